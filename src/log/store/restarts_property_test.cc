// Restarts of any length and number: what a later file supersedes is hidden, and nothing is deleted.
#include <algorithm>

#include "log/store/store.h"
#include "tests/support/event_file.h"
#include "tests/support/property.h"

using namespace sonde;
using namespace sonde::store;
using namespace sonde::testing;

namespace {

std::vector<Step> shown(const Snapshot& snapshot, View view) {
  std::vector<Step> steps;
  const Series* series = snapshot.runs.front()->find("loss");
  if (!series) return steps;
  for (const Range range : series->ranges(view)) {
    series->blocks(range, [&](const ScalarBlock& block) {
      steps.insert(steps.end(), block.steps.begin(), block.steps.end());
    });
  }
  return steps;
}

}  // namespace

TEST_CASE("property: files that begin again hide what they repeat, and all points stay") {
  for_all("of any number of restarts", [] {
    const TempFolder folder;
    std::vector<Step> all, expected;
    double wall_time = 100;
    const auto files = *rc::gen::inRange(1, 5);
    for (int file = 0; file < files; ++file) {
      const Step highest = all.empty() ? 0 : all.back();
      const auto first = *rc::gen::inRange<Step>(0, highest + 2);
      const auto length = *rc::gen::inRange<Step>(1, 12);
      std::string bytes = version_record(wall_time);
      if (first <= highest) std::erase_if(expected, [&](Step step) { return step >= first; });
      for (Step step = first; step < first + length; ++step) {
        bytes += scalar_record("loss", step, 1, ++wall_time);
        all.push_back(step);
        expected.push_back(step);
      }
      wall_time += 50;
      folder.write("events.out.tfevents." + std::to_string(file), bytes);
    }
    Options options;
    options.roots = {{"", folder.path().string()}};
    options.follow = false;
    const auto store = std::move(*Store::open(std::move(options)));
    store->wait_loaded();
    const auto snapshot = store->snapshot();
    RC_ASSERT(shown(*snapshot, View::kAll) == all);
    RC_ASSERT(shown(*snapshot, View::kNewest) == expected);
  });
}
