#include "capture/trace/clip.h"

#include <doctest/doctest.h>

#include "capture/trace/builder.h"

using namespace sonde;
using namespace sonde::trace;

namespace {

// Two steps of 100 ps with an operation in each, a kernel launched in the first that ends in the
// second, and a counter.
Trace two_steps() {
  Builder builder("test");
  builder.set_host("vm");
  builder.set_start_ns(5);
  const Arg version{builder.key("version"), {ArgType::kText, builder.string("1")}};
  const TrackId process = builder.process("python", 1);
  builder.edit(process).args = builder.add_args(std::span(&version, 1));
  const TrackId host = builder.track(TrackKind::kThread, process, "main", 2);
  const TrackId device = builder.track(TrackKind::kStream, process, "stream", 3);
  const TrackId counter = builder.track(TrackKind::kCounter, process, "memory", 4);
  const TrackId sums = builder.track(TrackKind::kAggregate, process, "sums", 5);
  builder.slice(host, {0}, {100}, builder.label("step"));
  builder.arg("step_num", int64_t{1});
  const SliceId launch = builder.slice(host, {80}, {5}, builder.label("launch"));
  builder.slice(host, {100}, {100}, builder.label("step"));
  builder.arg("step_num", int64_t{2});
  builder.slice(host, {100}, {0}, builder.label("mark"));
  builder.slice(sums, {0}, {900}, builder.label("sum"));
  const SliceId kernel = builder.slice(device, {90}, {40}, builder.label("kernel"));
  builder.flow(launch, kernel, "launch");
  for (const int64_t t : {0, 50, 150}) builder.point(counter, {t}, static_cast<double>(t));
  return std::move(builder).finish();
}

}  // namespace

TEST_CASE("Clip: the second step alone, its neighbours cut") {
  const Trace whole = two_steps();
  const Trace part = clipped(whole, {100}, {200});
  REQUIRE(part.slice_count() == 3);
  CHECK(part.name(0) == "step");
  CHECK(part.find(0, part.key("step_num"))->as_int() == 2);
  CHECK(part.name(1) == "mark");
  CHECK(part.name(2) == "kernel");
  CHECK(part.begin(2) == Picos{100});
  CHECK(part.duration(2) == Picos{30});
  CHECK(part.flows().empty());  // its launch is outside
  CHECK(part.tracks().size() == whole.tracks().size());
  CHECK(part.text_of(part.find(part.tracks()[0].args, part.key("version"))) == "1");
  CHECK(part.host() == "vm");
  CHECK(*part.start_ns() == 5);
  const Track& counter = part.tracks()[3];
  REQUIRE(counter.points == 2);
  CHECK(part.point_time(counter.first_point) == Picos{100});  // the value it had by then
  CHECK(part.point_value(counter.first_point) == 50);
}

TEST_CASE("Clip: the whole range keeps everything that has a place in time") {
  const Trace whole = two_steps();
  const Trace part = clipped(whole, whole.first_begin(), whole.last_end());
  CHECK(part.slice_count() + 1 == whole.slice_count());  // without the sum
  CHECK(part.flows().size() == 1);
  CHECK(part.last_end() == Picos{200});
}

TEST_CASE("Clip: nothing is inside an empty or backward range") {
  const Trace whole = two_steps();
  CHECK(clipped(whole, {300}, {400}).slice_count() == 0);
  CHECK(clipped(whole, {150}, {50}).slice_count() == 0);
}
