#include "api/services/state.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "api/services/hub.h"
#include "api/services/jobs.h"

namespace sonde::api::v1 {

TEST_CASE("State: runs that come and go for long leave a bounded trace") {
  Settings settings;
  settings.sidecar = "off";
  State state({}, settings);
  store::Snapshot snapshot;
  size_t most = 0;
  for (uint32_t i = 0; i < 5 * State::kMaxGone; ++i) {
    auto run = std::make_shared<store::RunSnapshot>();
    run->id = static_cast<store::RunId>(i);
    run->name = fmt::format("run{}", i);
    run->has_events = true;
    snapshot.runs = {run};
    snapshot.revision = i + 1;
    snapshot.progress.loading = true;  // nothing is written to the disk
    state.slots(snapshot);
    state.tag_id(run->name, "scalar");
    if (i % 64 == 0) {
      state.removed(snapshot, i);
      state.tags(snapshot);
    }
    most = std::max(most, state.remembered());
  }
  CHECK(most < 4 * State::kMaxGone);
}

TEST_CASE("State: what was there a moment ago keeps its colour, and its removal is told") {
  Settings settings;
  settings.sidecar = "off";
  State state({}, settings);
  auto run = std::make_shared<store::RunSnapshot>();
  run->id = static_cast<store::RunId>(7);
  run->name = "seven";
  run->has_events = true;
  store::Snapshot with, without;
  with.runs = {run};
  with.revision = 1;
  with.progress.loading = without.progress.loading = true;
  without.revision = 2;
  const auto slot = state.slots(with);
  CHECK(state.removed(with, 0).empty());
  CHECK(state.removed(without, 1) == std::vector<uint32_t>{7});
  state.slots(without);
  CHECK(state.slots(with) == slot);
}

}  // namespace sonde::api::v1
