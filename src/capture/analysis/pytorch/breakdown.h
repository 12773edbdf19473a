// Where a rank's device time goes, by the definitions of Holistic Trace Analysis: busy, idle and
// why it was idle, communication hidden behind computation, and what launching kernels costs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

// From the first device event to the last end: idle, computing, or busy without computing.
struct TemporalBreakdown {
  int64_t total_ps = 0, idle_ps = 0, compute_ps = 0, non_compute_ps = 0;
};
TemporalBreakdown temporal_breakdown(const Capture& capture);

// Gaps between neighbours on one stream. The host was late when the next launch began after the
// previous kernel had ended; a gap shorter than a launch on the device takes is the device's own;
// anything else waited for something: another stream, an event, a copy.
struct IdleCauses {
  int32_t device = 0;
  int64_t stream = 0;
  int64_t host_wait_ps = 0, kernel_wait_ps = 0, other_ps = 0;
  int64_t total_ps() const { return host_wait_ps + kernel_wait_ps + other_ps; }
};
inline constexpr int64_t kConsecutiveKernelPs = 30'000;       // 30 ns
std::vector<IdleCauses> idle_causes(const Capture& capture);  // by device, stream

struct CommunicationOverlap {
  int64_t communication_ps = 0, hidden_ps = 0;  // hidden: while computing
};
CommunicationOverlap communication_overlap(const Capture& capture);

// Launches that led to device work, by the name of the runtime call.
struct LaunchStatistics {
  std::string name;
  int64_t launches = 0;
  int64_t host_ps = 0, device_ps = 0, delay_ps = 0;  // sums; delay: end of the call to the start
  int64_t longest_delay_ps = 0;
  int64_t short_kernels = 0;  // shorter than the call that launched them
  int64_t slow_calls = 0;     // longer than 50 us
  int64_t long_delays = 0;    // longer than 100 us
};
inline constexpr int64_t kSlowCallPicos = 50'000'000;
inline constexpr int64_t kLongDelayPicos = 100'000'000;
std::vector<LaunchStatistics> launch_statistics(const Capture& capture);  // most launches first

}  // namespace sonde::capture::pytorch
