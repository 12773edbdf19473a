// Examples in a Parquet file; its nested columns are named in the note and left out.
#pragma once

#include "base/bytes.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {

Result<Dataset> read_parquet(Bytes file, const ReadOptions& options);

}  // namespace sonde::whatif
