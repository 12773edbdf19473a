// The numbers the PyTorch rules start from, of the worker that decides the pace.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "capture/analysis/pytorch/capture.h"
#include "capture/findings/rules.h"

namespace sonde::capture::findings {

struct Numbers {
  explicit Numbers(const pytorch::Capture& capture);

  const pytorch::Capture& c;
  double step_ms = 0;
  std::array<double, pytorch::kRoleCount> average_us{};

  double part_ms(pytorch::Role role) const { return average_us[static_cast<size_t>(role)] / 1e3; }
  double percent(pytorch::Role role) const { return 100 * ratio(part_ms(role), step_ms); }
  double steps() const { return static_cast<double>(std::max<size_t>(1, c.steps.size())); }
  // ", over 2 steps" where an average rests on few.
  std::string over_steps() const;
};

// Start-up, a device that idles, launches of small kernels.
void pytorch_device(const Numbers& n, Rules& r);
// What the driver and the libraries do once, at their first calls; merged.
pytorch::Ranges start_up_calls(const pytorch::Capture& c);
// Graphs are launched whose kernels the recorder did not see: when the device works is not known.
bool hides_graphs(const pytorch::Capture& c);
// Copies, synchronisation, allocation, gaps.
void pytorch_waits(const Numbers& n, Rules& r);
// The rank that the others wait for, where there is one; says so in r.
const HostAnalysis* late_rank(Rules& r);
// Memory that grows from step to step.
void memory_growth(const HostAnalysis& host, Rules& r);
void memory_fragments(const Numbers& n, Rules& r);
// Steps that are not marked.
void pytorch_capture(Rules& r);

}  // namespace sonde::capture::findings
