// Apache Arrow's IPC file (Feather 2): words as dictionaries, nothing compressed, so that a reader
// can map it into memory and use it as it is.
#pragma once

#include "table/table.h"

namespace sonde::table {

std::unique_ptr<Writer> arrow_writer(std::vector<Column> columns, Sink sink);

}  // namespace sonde::table
