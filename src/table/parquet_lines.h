// The rows of a Parquet file as JSON lines, nested columns included: what tables of samples are read
// as.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::table {

// One object a row; nulls are left out. kTooLarge when the text would grow beyond `most` bytes.
Result<std::string> parquet_lines(Bytes file, uint64_t most);

}  // namespace sonde::table
