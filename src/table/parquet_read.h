// Flat columns of a Parquet file: numbers and texts, plain or as dictionaries, uncompressed, Snappy
// or zstd, pages of version 1 and 2. That is what pandas, Polars, Spark and DuckDB write; nested
// columns and types that are neither number nor text are named in `skipped`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::table {

struct ParquetColumn {
  static constexpr uint32_t kNull = UINT32_MAX;
  std::string name;
  bool is_text = false, is_integer = false;
  bool is_bool = false, is_json = false;  // is_json: each word is JSON
  std::vector<double> numbers;            // NaN: null
  std::vector<uint32_t> codes;            // of texts: which word, kNull: null
  std::vector<std::string> words;         // each once
};
struct ParquetTable {
  uint64_t rows = 0;  // that were read
  uint64_t rows_in_file = 0;
  std::vector<ParquetColumn> columns;
  std::vector<std::string> skipped;
};
struct ParquetLimits {
  uint64_t rows = UINT64_MAX;
  uint64_t columns = 10'000;
  uint64_t values = 200'000'000;
  bool nested = false;  // nested columns as JSON texts
};

// kCorrupt and kUnsupported name the column; kTooLarge beyond the limits.
Result<ParquetTable> read_parquet(Bytes file, const ParquetLimits& limits);

}  // namespace sonde::table
