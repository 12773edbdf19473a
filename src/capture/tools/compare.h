// Two captures side by side: step time, its parts, ops and kernels, aligned by name, largest change
// first.
#pragma once

#include <optional>

#include "capture/report/tool.h"
#include "capture/tools/compare_noise.h"

namespace sonde::capture {

// `now` against `before`; either may have any number of hosts.
Report compare(const Session& before, const Session& now);

// How much longer a step takes now, as a share (0.1 = 10 % slower) with its interval; nothing when
// either has no step.
std::optional<Change> slowdown(const Session& before, const Session& now);

}  // namespace sonde::capture
