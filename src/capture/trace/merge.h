// The traces of several hosts as one, on one axis of time: what the viewer shows as "all hosts".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "capture/trace/trace.h"

namespace sonde::trace {

// `offset_ps` is added to the times of a host. A process is named by its host; slices of one name
// share a label, so that search and sums see them together. `arrows` are those of each host, in its
// own ids; `rule` says how the times were aligned. Linear in what the hosts hold.
struct MergedPart {
  const Host* host = nullptr;
  int64_t offset_ps = 0;
  std::vector<Flow> arrows = {};
};
Trace merged(std::span<const MergedPart> parts, std::string_view rule);

inline constexpr std::string_view kMergedFormat = "merged";

}  // namespace sonde::trace
