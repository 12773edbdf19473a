#include "capture/trace/questions.h"

#include <doctest/doctest.h>

#include "capture/trace/builder.h"

using namespace sonde;
using namespace sonde::trace;

namespace {

// main:   step [0,100) > load [10,40) > read [20,30);  compute [50,90)
// worker: read [20,60)
struct Sample {
  TrackId process = 0, main = 0, worker = 0, memory = 0;
  Trace trace = make();

  Trace make() {
    Builder builder("test");
    process = builder.process("python", 1);
    main = builder.track(TrackKind::kThread, process, "main", 1);
    worker = builder.track(TrackKind::kThread, process, "worker", 2);
    memory = builder.track(TrackKind::kCounter, process, "memory", 3);
    builder.slice(main, {0}, {100}, builder.label("step", "user"));
    builder.slice(main, {10}, {30}, builder.label("load", "io"));
    builder.arg("file", "a");
    builder.slice(main, {20}, {10}, builder.label("read", "io"));
    builder.arg("file", "b");
    builder.slice(main, {50}, {40}, builder.label("compute"));
    builder.slice(worker, {20}, {40}, builder.label("read", "io"));
    builder.arg("file", "b");
    builder.point(memory, {0}, 10);
    builder.point(memory, {50}, 30);
    return std::move(builder).finish();
  }
  LabelId label(std::string_view name) const {
    for (LabelId i = 0; i < trace.labels().size(); ++i) {
      if (trace.text(trace.labels()[i].name) == name) return i;
    }
    return kNone;
  }
  const GroupTotal& row(const std::vector<GroupTotal>& rows, uint32_t group) const {
    for (const GroupTotal& one : rows) {
      if (one.group == group) return one;
    }
    FAIL("no such group");
    return rows.front();
  }
};

int64_t total_of(const Sample& sample, const std::vector<FlameNode>& nodes,
                 std::vector<const char*> path) {
  uint32_t at = 0;
  for (const char* name : path) {
    const LabelId label = sample.label(name);
    uint32_t next = kNone;
    for (uint32_t i = 1; i < nodes.size(); ++i) {
      if (nodes[i].parent == at && nodes[i].label == label) next = i;
    }
    if (next == kNone) return -1;
    at = next;
  }
  return nodes[at].total.value;
}

}  // namespace

TEST_CASE("totals: areas that overlap count once, each on its own tracks") {
  const Sample sample;
  Selection selection{{0}, {30}, {sample.main}};
  selection.also = {{{20}, {60}, {sample.main}}, {{50}, {60}, {sample.worker}}};
  const auto rows = totals(sample.trace, selection);
  CHECK(sample.row(rows, sample.label("step")).total == Picos{60});
  CHECK(sample.row(rows, sample.label("compute")).total == Picos{10});
  const GroupTotal& read = sample.row(rows, sample.label("read"));
  CHECK(read.count == 2);
  CHECK(read.total == Picos{20});  // 10 on main, 10 of the 40 on the worker
  CHECK(read.shortest == Picos{10});
  CHECK(read.longest == Picos{40});
  // A second area apart from the first leaves out what lies between them.
  selection = {{0}, {10}, {sample.main}, {{{90}, {100}, {sample.main}}}};
  CHECK(sample.row(totals(sample.trace, selection), sample.label("step")).total == Picos{20});
}

TEST_CASE("totals: by track, process, category and argument no time counts twice") {
  const Sample sample;
  const Selection all{{0}, {100}, {}};
  const auto by = [&](GroupBy group, KeyId key = kNone) {
    return totals(sample.trace, all, {group, key});
  };
  CHECK(sample.row(by(GroupBy::kTrack), sample.main).total == Picos{100});
  CHECK(sample.row(by(GroupBy::kTrack), sample.main).self == Picos{100});
  CHECK(sample.row(by(GroupBy::kTrack), sample.main).count == 4);
  CHECK(sample.row(by(GroupBy::kProcess), sample.process).total == Picos{140});
  const auto categories = by(GroupBy::kCategory);
  CHECK(sample.row(categories, sample.trace.string_id("io")).total == Picos{70});
  CHECK(sample.row(categories, kNone).total == Picos{40});
  const auto files = by(GroupBy::kArgument, sample.trace.key("file"));
  REQUIRE(files.size() == 3);
  const auto named = [&](std::string_view name) {
    for (const GroupTotal& one : files) {
      if (one.group != kNone && sample.trace.printed(one.value) == name) return one;
    }
    return GroupTotal{};
  };
  CHECK(named("b").total == Picos{50});
  CHECK(named("a").total == Picos{30});
  CHECK(named("a").self == Picos{20});
}

TEST_CASE("counter_totals: the mean weighs values by how long they held") {
  const Sample sample;
  const auto rows = counter_totals(sample.trace, {{25}, {75}, {}});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].track == sample.memory);
  CHECK(rows[0].points == 1);
  CHECK(rows[0].min == 10);
  CHECK(rows[0].max == 30);
  CHECK(rows[0].mean == doctest::Approx(20));
  CHECK(rows[0].first == 10);
  CHECK(rows[0].last == 30);
  CHECK(rows[0].integral == doctest::Approx(20 * 50e-12));
  CHECK(counter_totals(sample.trace, {{0}, {100}, {sample.main}}).empty());
}

TEST_CASE("reshaped: stacks from the bottom, from a pivot, with and without frames") {
  const Sample sample;
  const auto down = flame(sample.trace, {{0}, {100}, {}});
  const auto shaped = [&](FlameShape shape) { return reshaped(sample.trace, down, shape).value(); };
  using Path = std::vector<const char*>;
  struct Case {
    const char* promise;
    FlameShape shape;
    Path path;
    int64_t total;
  };
  constexpr auto kUp = FlameShape::Direction::kBottomUp;
  constexpr auto kDown = FlameShape::Direction::kTopDown;
  const Case cases[] = {
      {"own time of all reads", {kUp, "", "", "", ""}, {"read"}, 50},
      {"of which through load", {kUp, "", "", "", ""}, {"read", "load"}, 10},
      {"whose caller was step", {kUp, "", "", "", ""}, {"read", "load", "step"}, 10},
      {"the root has everything", {kUp, "", "", "", ""}, {}, 140},
      {"a pivot is the root", {kDown, "load", "", "", ""}, {"load"}, 30},
      {"with what it calls", {kDown, "load", "", "", ""}, {"load", "read"}, 10},
      {"callers of a pivot", {kUp, "load", "", "", ""}, {"load", "step"}, 30},
      {"only stacks with load", {kDown, "", "load", "", ""}, {"step"}, 30},
      {"no stack with load", {kDown, "", "", "load", ""}, {"step"}, 70},
      {"a frame left out", {kDown, "", "", "", "load"}, {"step", "read"}, 10},
      {"keeps its time", {kDown, "", "", "", "load"}, {"step"}, 100},
      {"and is gone", {kDown, "", "", "", "/^load$/"}, {"step", "load"}, -1},
  };
  for (const Case& one : cases) {
    CAPTURE(one.promise);
    CHECK(total_of(sample, shaped(one.shape), one.path) == one.total);
  }
  CHECK_FALSE(reshaped(sample.trace, down, {kUp, "/(/", "", "", ""}).has_value());
}
