// Vectors as people keep them: NumPy's .npy, text with a row a line, raw floats. Told apart by
// content, never by name; nothing here opens a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/files/npy.h"
#include "embed/files/projector.h"

namespace sonde::embed {

struct LabelledVectors {
  projector::Matrix matrix;
  std::vector<std::string> labels;  // the first cell of each row where it was no number, else empty
};

// The first `rows` rows (0 = all). An array of more than two axes is read as rows of what follows
// the first axis. kInvalid, kUnsupported (objects, complex numbers).
Result<projector::Matrix> parse_npy(std::string_view bytes, uint64_t rows = 0);

// Little-endian float32 with `dims` numbers a row.
Result<projector::Matrix> parse_raw_floats(std::string_view bytes, uint64_t dims);

// What a user dropped: .npy, text with tabs, commas or blanks between numbers and maybe a word in
// front, or raw floats when `dims` is not 0.
Result<LabelledVectors> parse_vectors(std::string_view bytes, uint64_t dims);

}  // namespace sonde::embed
