// NumPy's .npz and .npy: an array is a column; a second axis makes as many columns when it is
// short, a list otherwise.
#pragma once

#include "base/bytes.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {

Result<Dataset> read_npz(Bytes file, const ReadOptions& options);
// One array, e.g. scores of n examples by m labels; a row an example.
Result<Dataset> read_npy(std::string_view file, std::string_view name, const ReadOptions& options);

}  // namespace sonde::whatif
