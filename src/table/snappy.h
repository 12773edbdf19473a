// Snappy's raw format: what most programs compress the pages of Parquet files with.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::table {

// kCorrupt when the bytes are no Snappy block of exactly `size` bytes.
Result<std::string> unsnapped(std::string_view block, size_t size);

}  // namespace sonde::table
