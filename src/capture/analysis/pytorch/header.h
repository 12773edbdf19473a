// What a Kineto file says about itself before its events: devices, rank, back end.
#pragma once

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

void read_header(Capture& capture);

}  // namespace sonde::capture::pytorch
