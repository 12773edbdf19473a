#include "capture/trace/builder.h"

#include <doctest/doctest.h>

#include "capture/trace/questions.h"

using namespace sonde;
using namespace sonde::trace;

TEST_CASE("Builder: slices of a track are neighbours, earliest and longest first, and nest") {
  Builder builder("test");
  const TrackId process = builder.process("python", 1);
  const TrackId a = builder.track(TrackKind::kThread, process, "a", 10);
  const TrackId b = builder.track(TrackKind::kThread, process, "b", 11);
  const SliceId late = builder.slice(b, {50}, {10}, builder.label("late"));
  builder.arg("size", int64_t{7});
  const SliceId inner = builder.slice(a, {10}, {5}, builder.label("inner"));
  builder.arg("op", "MatMul");
  builder.slice(a, {10}, {20}, builder.label("outer"));
  builder.flow(late, inner, "launch");
  const Trace trace = std::move(builder).finish();

  REQUIRE(trace.slice_count() == 3);
  CHECK(trace.name(0) == "outer");
  CHECK(trace.name(1) == "inner");
  CHECK(trace.name(2) == "late");
  CHECK(trace.depth(1) == 1);
  CHECK(trace.track_of(1) == a);
  CHECK(trace.track_of(2) == b);
  CHECK(trace.tracks()[a].depth == 2);
  CHECK(trace.text_of(trace.find(1, trace.key("op"))) == "MatMul");
  CHECK(trace.find(2, trace.key("size"))->as_int() == 7);
  CHECK_FALSE(trace.find(0, trace.key("size")));
  REQUIRE(trace.flows().size() == 1);
  CHECK(trace.flows()[0].from == 2);
  CHECK(trace.flows()[0].to == 1);
  CHECK(trace.first_begin() == Picos{10});
  CHECK(trace.last_end() == Picos{60});
}

// torch.profiler with with_stack: a step is entered inside three functions that end right after, and
// left inside three others.
TEST_CASE("Builder: annotations that outlast the frame they begin in stand on one row each step") {
  Builder builder("test");
  const TrackId process = builder.process("python", 1);
  const TrackId t = builder.track(TrackKind::kThread, process, "main", 10);
  const auto frame = [&](int64_t begin, int64_t end, std::string_view name) {
    builder.slice(t, {begin}, {end - begin}, builder.label(name, "python_function"));
  };
  frame(0, 100'000, "main");
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t at = 1000 + step * 1000;
    frame(at, at + 30, "step");
    frame(at + 2, at + 28, "enter");
    frame(at + 4, at + 26, "record");
    builder.slice(t, {at + 10}, {1010}, builder.label("ProfilerStep", "user_annotation"));
    builder.slice(t, {at + 100}, {500}, builder.label("aten::mm", "cpu_op"));
    builder.slice(t, {at + 200}, {100}, builder.label("aten::copy_", "cpu_op"));
  }
  const Trace trace = std::move(builder).finish();
  CHECK(trace.tracks()[t].depth == 4);
  for (SliceId s = 0; s < trace.slice_count(); ++s) {
    CAPTURE(s);
    const std::string_view name = trace.name(s);
    if (name == "ProfilerStep") {
      CHECK(trace.depth(s) == 1);
      CHECK(self_time(trace, s) >= Picos{480});
    }
    if (name == "aten::mm") {
      CHECK(trace.depth(s) == 2);
      CHECK(self_time(trace, s) == Picos{400});
    }
    if (name == "step") CHECK(self_time(trace, s) == Picos{4});
  }
}

TEST_CASE("Builder: work that truly overlaps takes free rows, and no more than it needs") {
  Builder builder("test");
  const TrackId process = builder.process("device", 1);
  const TrackId t = builder.track(TrackKind::kStream, process, "stream", 1);
  for (int64_t i = 0; i < 50; ++i) builder.slice(t, {i * 60}, {100}, builder.label("kernel"));
  const Trace trace = std::move(builder).finish();
  CHECK(trace.tracks()[t].depth == 2);
}

TEST_CASE("Builder: a staircase of a hostile file is laid in linear time") {
  Builder builder("test");
  const TrackId process = builder.process("p", 1);
  const TrackId t = builder.track(TrackKind::kThread, process, "t", 1);
  constexpr int64_t kSlices = 200'000;
  for (int64_t i = 0; i < kSlices; ++i)
    builder.slice(t, {i}, {kSlices * 10}, builder.label("stair"));
  const Trace trace = std::move(builder).finish();
  CHECK(trace.slice_count() == kSlices);
}

TEST_CASE("Builder: blocks that are not filled leave no hole") {
  Builder builder("test");
  const TrackId t0 = builder.track(TrackKind::kStream, builder.process("gpu", 0), "s0", 0);
  const TrackId t1 = builder.track(TrackKind::kStream, 0, "s1", 1);
  const KeyId key = builder.key("k");
  const LabelId label = builder.label("x");
  const std::vector<Builder::BlockSize> sizes{{t0, 2, 3}, {t1, 1, 1}};
  auto blocks = builder.blocks(sizes);
  blocks[0].begin[0] = 5, blocks[0].duration[0] = 1, blocks[0].label[0] = label;
  blocks[0].arg_key[0] = packed_key(key, ArgType::kInt), blocks[0].arg_bits[0] = 1;
  blocks[0].arg_end[0] = blocks[0].first_arg + 1;
  blocks[0].used = 1, blocks[0].used_args = 1;
  blocks[1].begin[0] = 6, blocks[1].duration[0] = 2, blocks[1].label[0] = label;
  blocks[1].arg_key[0] = packed_key(key, ArgType::kInt), blocks[1].arg_bits[0] = 2;
  blocks[1].arg_end[0] = blocks[1].first_arg + 1;
  blocks[1].used = 1, blocks[1].used_args = 1;
  builder.set_used(std::move(blocks));
  const Trace trace = std::move(builder).finish();
  REQUIRE(trace.slice_count() == 2);
  CHECK(trace.find(0, trace.key("k"))->as_int() == 1);
  CHECK(trace.find(1, trace.key("k"))->as_int() == 2);
  CHECK(trace.begin(1) == Picos{6});
  CHECK(trace.track_of(1) == t1);
}

TEST_CASE("Builder: counters come out in time order") {
  Builder builder("test");
  const TrackId c = builder.track(TrackKind::kCounter, builder.process("p", 0), "power", 0);
  builder.point(c, {20}, 2.0);
  builder.point(c, {10}, 1.0);
  const Trace trace = std::move(builder).finish();
  CHECK(trace.tracks()[c].points == 2);
  CHECK(trace.point_value(0) == 1.0);
  CHECK(trace.point_time(1) == Picos{20});
}

TEST_CASE("ArgValue: numbers are read whatever type they were written with") {
  CHECK(ArgValue{ArgType::kDouble, std::bit_cast<uint64_t>(3.0)}.as_int() == 3);
  CHECK(ArgValue{ArgType::kUint, UINT64_MAX}.as_uint() == UINT64_MAX);
  CHECK(ArgValue{ArgType::kInt, static_cast<uint64_t>(int64_t{-2})}.as_double() == -2.0);
  CHECK(ArgValue{ArgType::kDouble, std::bit_cast<uint64_t>(1e300)}.as_int() == 0);
}

TEST_CASE("Builder: a track knows its children, in their order") {
  trace::Builder b("x");
  const auto first = b.process("a", 0);
  const auto second = b.process("b", 1);
  const auto one = b.track(trace::TrackKind::kThread, second, "one", 1);
  const auto two = b.track(trace::TrackKind::kStream, first, "two", 2);
  const auto three = b.track(trace::TrackKind::kThread, second, "three", 3);
  const trace::Trace trace = std::move(b).finish();
  const auto children = [&](trace::TrackId t) {
    return std::vector<trace::TrackId>(trace.children(t).begin(), trace.children(t).end());
  };
  CHECK(children(first) == std::vector{two});
  CHECK(children(second) == std::vector{one, three});
  CHECK(children(one).empty());
}
