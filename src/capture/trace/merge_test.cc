#include "capture/trace/merge.h"

#include <doctest/doctest.h>

#include <memory>

#include "capture/trace/builder.h"

namespace sonde::trace {
namespace {

Host made(std::string name, int64_t begin) {
  Builder builder("kineto");
  const TrackId process = builder.process("python", 1);
  const TrackId thread = builder.track(TrackKind::kThread, process, "main", 7);
  const TrackId counter = builder.track(TrackKind::kCounter, process, "memory", 8);
  const SliceId a = builder.slice(thread, {begin}, {10}, builder.label("aten::mm"));
  builder.arg("shape", "[2,3]");
  const SliceId b = builder.slice(thread, {begin + 20}, {5}, builder.label("all_reduce"));
  builder.flow(a, b, "launch");
  builder.point(counter, {begin}, 3.5);
  return {std::move(name), "", 0, std::make_shared<const Trace>(std::move(builder).finish())};
}

TEST_CASE("merged: hosts on one axis, names shared, arrows and arguments kept") {
  const Host first = made("worker0", 100), second = made("worker1", 1000);
  const MergedPart parts[] = {{&first, 0, first.trace->flows()},
                              {&second, -890, second.trace->flows()}};
  const Trace all = merged(parts, "the ends of 1 shared collectives");
  REQUIRE(all.slice_count() == 4);
  CHECK(all.format() == kMergedFormat);
  CHECK(all.tracks().size() == 6);
  CHECK(all.track_name(0) == "worker0 · python");
  CHECK(all.track_name(3) == "worker1 · python");
  CHECK(all.begin(0) == Picos{100});
  CHECK(all.begin(2) == Picos{110});  // 1000 - 890
  CHECK(all.label_id(0) == all.label_id(2));
  CHECK(all.text_of(all.find(2, all.key("shape"))) == "[2,3]");
  REQUIRE(all.flows().size() == 2);
  CHECK(all.flows()[1].from == 2);
  CHECK(all.flows()[1].to == 3);
  CHECK(all.text(all.flows()[1].kind) == "launch");
  CHECK(all.tracks()[5].points == 1);
  CHECK(all.point_time(all.tracks()[5].first_point) == Picos{110});
}

}  // namespace
}  // namespace sonde::trace
