// Arrows between slices: recorded as such in the file, or, where a file has none (XSpace), what the
// slices' ids say: a launch and the device work it started, a producer and its consumer.
#pragma once

#include "capture/analysis/analysis.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

// Calls fn(trace::Flow) for all of them.
template <class Fn>
void for_each_arrow(const HostAnalysis& host, const Fn& fn) {
  if (!host.trace().flows().empty()) {
    for (const trace::Flow& flow : host.trace().flows()) fn(flow);
    return;
  }
  constexpr uint32_t kMaxSiblings = 16;  // a meeting of more is a barrier, not an arrow
  const Forest& forest = host.forest();
  for (uint32_t m = 0; m < forest.meeting_count(); ++m) {
    const auto& meeting = forest.meeting(m);
    if (uint64_t{meeting.producer_count} * meeting.consumer_count > kMaxSiblings) continue;
    for (uint32_t p = 0; p < meeting.producer_count; ++p) {
      for (uint32_t c = 0; c < meeting.consumer_count; ++c) {
        fn(trace::Flow{forest.member(meeting.first + p),
                       forest.member(meeting.first + meeting.producer_count + c), trace::kNone});
      }
    }
  }
}

}  // namespace sonde::capture
