// Writes a timeline as a Perfetto protobuf trace: a descriptor a process, lane and counter, slices
// as begin and end, names and categories interned. 15 to 25 % of the size of the JSON.
#pragma once

#include "capture/export/chrome_writer.h"

namespace sonde::exports {

Written write_perfetto(const Drawing& drawing, io::TextOut& out);

}  // namespace sonde::exports
