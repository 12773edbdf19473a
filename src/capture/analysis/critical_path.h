// What a stretch of time waited for, from its end back to its beginning: a kernel waits for the one
// before it on its stream or for its launch, a launch for what its thread did before, a thread for
// the device or for another thread, a collective for the rank that comes last. What is not on this
// path could be faster without making a step faster.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/analysis/pytorch/common_clock.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

class HostAnalysis;

enum class PathKind : uint8_t {
  kHost,        // a thread's own work
  kLaunch,      // a call that starts device work, and the time until it begins
  kKernel,      // device work
  kCopy,        // between host and device
  kCollective,  // between ranks
  kWait,        // nothing recorded
};
inline constexpr size_t kPathKinds = 6;
std::string_view name_of(PathKind kind);

struct PathPart {
  PathKind kind = PathKind::kHost;
  uint32_t host = 0;                    // in the list of hosts
  trace::SliceId slice = trace::kNone;  // kNone: nothing recorded
  trace::TrackId track = trace::kNone;
  int64_t begin = 0, end = 0;  // on the first host's clock
};

struct CriticalPath {
  std::vector<PathPart> parts;  // by time, without holes
  int64_t begin = 0, end = 0;
  bool is_cut = false;  // the walk was given up: the beginning is missing
  pytorch::CommonClock clock;
};

// Of the marked steps of the first host, all together; without steps of the whole capture. A merged
// axis is used when there are several hosts.
CriticalPath critical_path(const std::vector<const HostAnalysis*>& hosts);

}  // namespace sonde::capture
