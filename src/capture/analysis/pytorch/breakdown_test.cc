// A capture small enough to work out by hand. Times in us on one device:
//
//   host    launch A 0-5    launch N 6-8   launch B 40-42   copy 43-44
//   stream 7        A 10-20                      B 45-55
//   stream 7                                              copy 55.01-60  (waits 10 ns)
//   stream 20           N 15-35 (nccl)
#include "capture/analysis/pytorch/breakdown.h"

#include <doctest/doctest.h>

#include "capture/trace/builder.h"

namespace sonde::capture::pytorch {
namespace {

constexpr int64_t kUs = 1'000'000;

struct Maker {
  trace::Builder builder{"kineto"};
  trace::TrackId host = builder.process("python", 1), gpu = builder.process("GPU 0", 0);
  trace::TrackId thread = builder.track(trace::TrackKind::kThread, host, "main", 1);
  trace::TrackId compute = builder.track(trace::TrackKind::kStream, gpu, "stream 7", 7);
  trace::TrackId comm = builder.track(trace::TrackKind::kStream, gpu, "stream 20", 20);

  void add(trace::TrackId track, double begin, double end, std::string_view name,
           std::string_view category, int64_t correlation) {
    builder.slice(track, {static_cast<int64_t>(begin * kUs)},
                  {static_cast<int64_t>(end * kUs) - static_cast<int64_t>(begin * kUs)},
                  builder.label(name, category));
    if (correlation != 0) builder.arg("correlation", correlation);
    if (track == compute || track == comm) builder.arg("device", int64_t{0});
  }
};

trace::Trace small_capture() {
  Maker m;
  m.add(m.thread, 0, 80, "ProfilerStep#3", "user_annotation", 0);
  m.add(m.thread, 0, 5, "cudaLaunchKernel", "cuda_runtime", 1);
  m.add(m.thread, 6, 8, "cudaLaunchKernel", "cuda_runtime", 2);
  m.add(m.thread, 40, 42, "cudaLaunchKernel", "cuda_runtime", 3);
  m.add(m.thread, 43, 44, "cudaMemcpyAsync", "cuda_runtime", 4);
  m.add(m.compute, 10, 20, "gemm", "kernel", 1);
  m.add(m.comm, 15, 35, "ncclDevKernel_AllReduce", "kernel", 2);
  m.add(m.compute, 45, 55, "gemm", "kernel", 3);
  m.add(m.compute, 55.01, 60, "Memcpy DtoH", "gpu_memcpy", 4);
  return std::move(m.builder).finish();
}

}  // namespace

TEST_CASE("Ranks: busy, computing and idle time of a device") {
  const trace::Trace trace = small_capture();
  const Capture capture(trace);
  const TemporalBreakdown t = temporal_breakdown(capture);
  CHECK(t.total_ps == 50 * kUs);                  // 10 … 60
  CHECK(t.compute_ps == 20 * kUs);                // 10-20, 45-55
  CHECK(t.idle_ps == 10 * kUs + kUs / 100);       // 35-45 and 55-55.01
  CHECK(t.non_compute_ps == 15 * kUs + 4990000);  // 20-35 and 55.01-60
}

TEST_CASE("Ranks: a gap is the host's, the device's own, or somebody else's") {
  const trace::Trace trace = small_capture();
  const Capture capture(trace);
  const auto idle = idle_causes(capture);
  REQUIRE(idle.size() == 2);
  CHECK(idle[0].stream == 7);
  CHECK(idle[0].host_wait_ps == 25 * kUs);  // 20-45: the launch began at 40, after the kernel ended
  CHECK(idle[0].kernel_wait_ps == kUs / 100);
  CHECK(idle[0].other_ps == 0);
  CHECK(idle[1].total_ps() == 0);
}

TEST_CASE("Ranks: communication hidden behind computation") {
  const trace::Trace trace = small_capture();
  const auto overlap = communication_overlap(Capture(trace));
  CHECK(overlap.communication_ps == 20 * kUs);
  CHECK(overlap.hidden_ps == 5 * kUs);  // 15-20
}

TEST_CASE("Ranks: what launching costs") {
  const trace::Trace trace = small_capture();
  const auto launches = launch_statistics(Capture(trace));
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].name == "cudaLaunchKernel");
  CHECK(launches[0].launches == 3);
  CHECK(launches[0].host_ps == 9 * kUs);
  CHECK(launches[0].device_ps == 40 * kUs);
  CHECK(launches[0].delay_ps == (5 + 7 + 3) * kUs);
  CHECK(launches[0].longest_delay_ps == 7 * kUs);
  CHECK(launches[0].short_kernels == 0);
  CHECK(launches[1].launches == 1);
}

TEST_CASE("Capture: a step reaches to the end of the device work it launched, in parts") {
  trace::Trace trace = small_capture();
  const Capture capture(trace);
  REQUIRE(capture.steps.size() == 1);
  CHECK(capture.steps[0].name == "3");
  CHECK(capture.steps[0].extent == Range{0, 80 * kUs});
  CHECK(capture.steps[0].of(Role::kKernel) == 20 * kUs);
  CHECK(capture.steps[0].of(Role::kCommunication) == 15 * kUs);  // 20-35
  CHECK(capture.steps[0].of(Role::kMemcpy) == 4990000);
  CHECK(capture.steps[0].of(Role::kRuntime) == 10 * kUs);
  int64_t sum = 0;
  for (const int64_t part : capture.steps[0].cost) sum += part;
  CHECK(sum == 80 * kUs);
}

}  // namespace sonde::capture::pytorch
