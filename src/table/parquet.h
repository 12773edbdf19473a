// Apache Parquet, version 1 pages: words as dictionaries, the rest plain, everything in zstd.
#pragma once

#include "table/table.h"

namespace sonde::table {

std::unique_ptr<Writer> parquet_writer(std::vector<Column> columns, Sink sink);

}  // namespace sonde::table
