// A PyTorch capture in the terms of the tools for every framework: steps with their parts, ops,
// kernels, machine. Overview, kernel statistics, op statistics, Compare and the findings read these
// and need not know where a capture came from.
#pragma once

#include <vector>

#include "capture/analysis/grouping.h"
#include "capture/analysis/machine.h"
#include "capture/analysis/ops/kernels.h"
#include "capture/analysis/ops/ops.h"
#include "capture/analysis/pytorch/capture.h"
#include "capture/analysis/steps.h"

namespace sonde::capture::pytorch {

// Slices inside ProfilerStep#N, on any host thread, and the device work launched there.
Grouping grouping_of(const Capture& capture);
Steps steps_of(const Capture& capture);
HostOps host_ops_of(const Capture& capture);
DeviceOps device_ops_of(const Capture& capture);
std::vector<Kernel> kernels_of(const Capture& capture);
Machine machine_of(const Capture& capture);

}  // namespace sonde::capture::pytorch
