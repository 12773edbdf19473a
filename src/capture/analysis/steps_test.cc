#include "capture/analysis/steps.h"

#include <doctest/doctest.h>

#include "capture/analysis/analysis.h"
#include "capture/trace/builder.h"

using namespace sonde;
using namespace sonde::capture;
using trace::ArgType;
using trace::TrackKind;

namespace {

constexpr int64_t kMs = 1'000'000'000;

// Two steps of 10 ms: 4 ms input, a function run that launches a kernel of 3 ms on the device.
trace::Session small_session(bool marked, bool with_device) {
  trace::Builder b("xplane");
  const auto host = b.process("/host:CPU", 0);
  const auto python = b.track(TrackKind::kThread, host, "python", 1);
  const auto worker = b.track(TrackKind::kThread, host, "worker", 2);
  const auto device = with_device ? b.process("/device:GPU:0", 0) : trace::kNone;
  const auto stream =
      with_device ? b.track(TrackKind::kStream, device, "Stream #1(Compute)", 1) : trace::kNone;
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t t = step * 20 * kMs;
    b.slice(python, {t}, {10 * kMs}, b.label("train"));
    b.arg("step_num", step + 7);
    if (marked) b.arg("_r", int64_t{1});
    b.slice(python, {t + kMs}, {4 * kMs}, b.label("IteratorGetNextOp::DoCompute"));
    b.slice(python, {t + 5 * kMs}, {kMs}, b.label("Enqueue"));
    b.arg("_pt", int64_t{2});
    b.arg("_p", int64_t{step + 100});
    b.slice(worker, {t + 6 * kMs}, {2 * kMs}, b.label("x/MatMul:MatMul"));
    b.arg("_ct", int64_t{2});
    b.arg("_c", step + 100);
    if (!with_device) continue;
    b.slice(worker, {t + 6 * kMs}, {kMs}, b.label("cuLaunchKernel"));
    b.arg("correlation_id", step + 1);
    b.slice(stream, {t + 7 * kMs}, {3 * kMs}, b.label("gemm_half"));
    b.arg("correlation_id", step + 1);
  }
  trace::Session session;
  session.hosts.push_back(
      {"h", "", 0, std::make_shared<const trace::Trace>(std::move(b).finish())});
  return session;
}

int64_t ms(const capture::Step& step, Part part) { return step.part(part) / kMs; }

}  // namespace

TEST_CASE("steps: a consumer on another thread belongs to the step of its producer") {
  const Session session(small_session(true, false));
  const HostAnalysis& host = *session.analysis().hosts[0];
  REQUIRE(host.steps().steps.size() == 2);
  const capture::Step& step = host.steps().steps[0];
  CHECK(step.name == "train 7");
  CHECK(step.duration() == 10 * kMs);
  CHECK(ms(step, Part::kInput) == 4);
  CHECK(ms(step, Part::kHostCompute) == 3);  // Enqueue and, on the worker, MatMul
  CHECK(ms(step, Part::kOther) == 3);
  CHECK(host.grouping().derived_rule.empty());
}

TEST_CASE(
    "steps: kernels belong to the step that launched them, and device work wins the overlap") {
  const Session session(small_session(true, true));
  const HostAnalysis& host = *session.analysis().hosts[0];
  REQUIRE(host.steps().steps.size() == 2);
  const capture::Step& step = host.steps().steps[1];
  CHECK(step.name == "train 8");
  CHECK(ms(step, Part::kDeviceCompute) == 3);
  CHECK(step.work[static_cast<size_t>(Work::kCompute16)] == 3 * kMs);
  CHECK(ms(step, Part::kLaunch) == 1);
  CHECK(ms(step, Part::kInput) == 4);
  int64_t sum = 0;
  for (size_t p = 0; p < kPartCount; ++p) sum += step.part(static_cast<Part>(p));
  CHECK(sum == step.duration());
}

TEST_CASE("steps: unmarked steps are derived and say so") {
  const Session session(small_session(false, false));
  const HostAnalysis& host = *session.analysis().hosts[0];
  CHECK(host.steps().steps.size() == 2);
  CHECK_FALSE(host.grouping().derived_rule.empty());
}

TEST_CASE("steps: contexts that form a cycle end") {
  trace::Builder b("xplane");
  const auto line = b.track(TrackKind::kThread, b.process("/host:CPU", 0), "t", 1);
  for (int64_t i = 0; i < 4; ++i) {
    b.slice(line, {i * 100}, {50}, b.label("train"));
    b.arg("_r", int64_t{1});
    b.arg("_pt", int64_t{1});
    b.arg("_p", i);
    b.arg("_ct", int64_t{1});
    b.arg("_c", (i + 1) % 4);
  }
  trace::Session loaded;
  loaded.hosts.push_back({"h", "", 0, std::make_shared<const trace::Trace>(std::move(b).finish())});
  const Session session(std::move(loaded));
  // Each is an ancestor of each: nobody starts a group, and nothing runs for ever.
  CHECK(session.analysis().hosts[0]->grouping().groups.size() <= 4);
}

TEST_CASE("steps: sizes of copies in every spelling") {
  CHECK(copy_bytes("kind_src:pinned kind_dst:device size:4194304 dest:0 async:1") == 4194304);
  CHECK(copy_bytes("num_bytes:12\nkind:x") == 12);
  CHECK(copy_bytes("") == 0);
  CHECK(copy_bytes("page_size:7") == 0);
}

TEST_CASE("vocabulary: no device is left out, however many there are") {
  trace::Builder b("xplane");
  for (int i = 0; i < 300; ++i) {
    const auto plane = b.process("/device:GPU:" + std::to_string(i), i);
    b.slice(b.track(TrackKind::kStream, plane, "Stream #1", 1), {0}, {kMs}, b.label("gemm"));
  }
  trace::Session session;
  session.hosts.push_back(
      {"h", "", 0, std::make_shared<const trace::Trace>(std::move(b).finish())});
  const Session analysed(std::move(session));
  CHECK(analysed.analysis().hosts[0]->words().gpu_planes.size() == 300);
}
