// An export of Nsight Systems does not say which framework ran: its findings keep what was measured
// and lose the lines that belong to one.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "capture/findings/findings.h"

namespace sonde::capture {

inline std::vector<Finding> findings_of(const std::vector<const HostAnalysis*>& hosts,
                                        const SessionSteps& steps) {
  std::vector<Finding> found = all_findings(hosts, steps);
  const bool is_unknown = std::ranges::any_of(
      hosts, [](const HostAnalysis* host) { return host->trace().format() == "nsys"; });
  if (!is_unknown) return found;
  for (Finding& finding : found) {
    finding.file.clear();
    finding.diff.clear();
    for (const std::string_view word : {"XLA", "jit", "tf.", "TF_GPU", "Keras"}) {
      if (finding.action.find(word) != std::string::npos) finding.action.clear();
    }
  }
  return found;
}

}  // namespace sonde::capture
