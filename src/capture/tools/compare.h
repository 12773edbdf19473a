// Two captures side by side: step time, its parts, ops and kernels, aligned by name, largest change
// first.
#pragma once

#include "capture/report/tool.h"

namespace sonde::capture {

// `now` against `before`; either may have any number of hosts.
Report compare(const Session& before, const Session& now);

// How much longer a step takes now, as a fraction (0.1 = 10 % slower); nothing when either has no
// step.
std::optional<double> slowdown(const Session& before, const Session& now);

}  // namespace sonde::capture
