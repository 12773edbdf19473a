// How busy each device is over the steps: share of time with a kernel, estimated share of its
// multiprocessors in use, occupancy, share of kernel time on Tensor Cores.
#pragma once

#include <optional>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

struct GpuUse {
  int32_t device = 0;
  double utilization = 0;               // 0…1 of the time from the first step to the last
  std::optional<double> sm_efficiency;  // 0…1; the recorder gave blocks per SM
  std::optional<double> occupancy;      // percent, mean over kernel time
  std::optional<double> tensor_cores;   // 0…1 of the time of kernels that operators launched
};

std::vector<GpuUse> gpu_use(const Capture& capture);  // by device number

// Share of kernel time launched by the innermost operators that could use Tensor Cores.
double eligible_share(const Capture& capture);
// Share of kernel time on Tensor Cores.
double tensor_core_share(const Capture& capture);

}  // namespace sonde::capture::pytorch
