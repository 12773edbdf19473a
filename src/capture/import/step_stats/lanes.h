// Which lane of its device a node is drawn on, where the recorded threads do not say. (TensorFlow's
// own packing is packed_lanes() of step_stats.h.)
#pragma once

#include <cstdint>
#include <vector>

#include "capture/import/step_stats/step_stats.h"

namespace sonde::imports {

// Whether two nodes of one recorded thread overlap without nesting: then it is no thread.
bool has_overlaps(const DeviceStats& device);

// As few lanes as the nodes need, whatever their order in the file.
std::vector<uint32_t> dense_lanes(const DeviceStats& device);

}  // namespace sonde::imports
