// The passes that fill a Capture; called once by its constructor, in this order.
#pragma once

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

// One sweep over the slices of every track: tree nodes, launches, device events, memory records
// and the time of each role.
void collect(Capture& capture);
// Steps as marked or, without marks, the whole capture as one; their extent and their costs.
void find_steps(Capture& capture);

}  // namespace sonde::capture::pytorch
