#include "capture/findings/resources.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "capture/trace/builder.h"

using namespace sonde;
using namespace sonde::capture;
using trace::TrackKind;

namespace {

struct Iterator {
  int64_t id;
  int64_t buffered_mb;
};

// The root iterator says what tf.data may use, and how full the whole machine is.
trace::Session with_iterators(const std::vector<Iterator>& iterators, int64_t budget_mb) {
  trace::Builder b("xplane");
  const auto host = b.process("/host:CPU", 0);
  const auto thread = b.track(TrackKind::kThread, host, "tf_data_iterator_get_next", 1);
  b.slice(thread, {0}, {1000}, b.label("Iterator::Root"));
  b.arg("id", int64_t{1});
  b.arg("ram_budget_megabytes", budget_mb);
  b.arg("ram_usage_megabytes", "16957 out of 25274 (67.09%)");
  int64_t at = 0;
  for (const Iterator& iterator : iterators) {
    b.slice(thread, {at += 2000}, {1000}, b.label("Iterator::Prefetch"));
    b.arg("id", iterator.id);
    b.arg("buffered_bytes_MB", iterator.buffered_mb);
  }
  trace::Session session;
  session.hosts.push_back(
      {"h", "", 0, std::make_shared<const trace::Trace>(std::move(b).finish())});
  return session;
}

}  // namespace

TEST_CASE("IN-AUTOTUNE-RAM: what the buffers hold, never what the machine uses") {
  const struct {
    std::string_view promise;
    std::vector<Iterator> iterators;
    int64_t budget_mb;
    bool is_found, has_fired;
    double used_mb;
  } kCases[] = {
      {"the machine's memory is no sign", {{2, 3}}, 4218, true, false, 3},
      {"nobody says what it holds", {}, 4218, false, false, 0},
      {"the most of each iterator, all together", {{2, 10}, {3, 85}, {2, 7}}, 100, true, true, 95},
      {"nothing may be used", {{2, 3}}, 0, false, false, 0},
  };
  for (const auto& c : kCases) {
    INFO(c.promise);
    const Session session(with_iterators(c.iterators, c.budget_mb));
    const std::vector<const HostAnalysis*> hosts{session.analysis().hosts[0].get()};
    std::vector<Finding> found;
    findings::resources(hosts, session_steps(hosts), found);
    const auto it = std::find_if(found.begin(), found.end(),
                                 [](const Finding& f) { return f.id == "IN-AUTOTUNE-RAM"; });
    REQUIRE((it != found.end()) == c.is_found);
    if (it == found.end()) continue;
    CHECK(it->fired == c.has_fired);
    CHECK(it->numbers[0].second == c.used_mb);
  }
}
