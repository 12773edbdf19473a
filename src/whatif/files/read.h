// Examples from files: the format is told by the content, several files of one pattern are put one
// behind the other, gzip is undone.
#pragma once

#include <string>

#include "base/bytes.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {

// Bytes of any of the formats. `name` is for messages and for the data set.
Result<Dataset> read_bytes(Bytes bytes, const std::string& name, const ReadOptions& options);

// A path, or a pattern with * and ?. kNotFound when nothing matches.
Result<Dataset> read_dataset(const std::string& path, const ReadOptions& options);

}  // namespace sonde::whatif
