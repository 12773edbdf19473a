// Findings about what the machine gives: memory, cores, clocks, balance between devices, and what
// the profiler itself took.
#pragma once

#include <vector>

#include "capture/analysis/analysis.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture::findings {

void resources(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps,
               std::vector<Finding>& found);

}  // namespace sonde::capture::findings
