// Rules that turn the measured numbers into advice: what takes the time, how much could be won at
// most, and the line to change. Rules that did not fire are kept with their values, so that a
// reader sees what was checked.
#pragma once

#include <vector>

#include "capture/analysis/analysis.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture {

// All rules; fired ones first, largest gain first.
std::vector<Finding> all_findings(const std::vector<const HostAnalysis*>& hosts,
                                  const SessionSteps& steps);
// Those about input.
std::vector<Finding> input_findings(const std::vector<const HostAnalysis*>& hosts,
                                    const SessionSteps& steps);

// What the overview says in one sentence: as classify(), from the whole time from step to step.
Bottleneck conclusion(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps);

// The report's diagnostics as xprof's table.
Table diagnostics_table(const Report& report);

}  // namespace sonde::capture
