// How full a multiprocessor can get with a kernel, and what keeps it from getting fuller.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/analysis/ops/kernels.h"

namespace sonde::capture {

struct Occupancy {
  double percent = 0;        // resident warps of those that fit
  std::string_view limiter;  // "registers", "shared memory", "block size", "blocks"; empty: none
};

// By the limits of the compute capability; nothing for an unknown one, for other vendors and for a
// launch that was not recorded whole.
std::optional<Occupancy> theoretical_occupancy(const LaunchShape& launch, int64_t major,
                                               int64_t minor);

}  // namespace sonde::capture
