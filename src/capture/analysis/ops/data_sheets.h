// Peaks of GPUs by their name, for captures that record neither clock nor bandwidth.
#pragma once

#include <string_view>

#include "capture/analysis/machine.h"

namespace sonde::capture {

// Dense rates and bandwidth as the manufacturer states them; all zero for a device not in the list.
Peaks data_sheet_peaks(std::string_view device_name);

}  // namespace sonde::capture
