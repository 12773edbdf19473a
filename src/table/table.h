// Tables for other programs: rows in batches, columns of four kinds, written as Parquet
// (table/parquet.h) or Arrow (table/arrow.h). Strings that repeat are numbers into a list that is
// known before the first row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::table {

enum class Kind : uint8_t {
  kInt64,
  kDouble,
  kWord,  // one of Column::words
  kText,  // UTF-8
};

struct Column {
  std::string name;
  Kind kind = Kind::kInt64;
  bool is_nullable = false;
  std::vector<std::string> words;  // of kWord, UTF-8
};

// The values of one column of a batch; only the vector of its kind is used, with one entry a row
// (any value where the row is null).
struct Values {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<uint32_t> indices;
  std::vector<std::string> texts;
  std::vector<uint8_t> is_there;  // of nullable columns: 1 or 0 a row
};

struct Batch {
  size_t rows = 0;
  std::vector<Values> columns;
};

// Appends bytes to the file; false when it cannot.
using Sink = std::function<bool(std::string_view bytes)>;

class Writer {
 public:
  virtual ~Writer() = default;
  // A batch becomes a row group or record batch; texts of one batch stay below a gigabyte.
  virtual Result<void> add(const Batch& batch) = 0;
  // The end of the file; nothing may be added after it.
  virtual Result<void> finish() = 0;
};

}  // namespace sonde::table
