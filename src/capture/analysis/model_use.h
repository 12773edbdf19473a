// Model FLOPs utilisation: how long the program's own arithmetic would take at the devices' peak,
// as a share of the time it took.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/analysis/analysis.h"

namespace sonde::capture {

struct ModelUse {
  double percent = 0;
  double gflops = 0;      // done per second and device
  std::string reference;  // "989 TFLOP/s (16-bit)"
};

// Nothing where the arithmetic is not recorded (no HLO; no shapes; Tensor Core kernels whose
// operators do not say what they compute) or the device's peak is not known.
std::optional<ModelUse> model_use(const std::vector<const HostAnalysis*>& hosts,
                                  const Machine& machine);

}  // namespace sonde::capture
