// Parquet files as tables of samples are read from them: nested columns as JSON lines, and as flat
// columns within limits.
#include "base/bytes.h"
#include "codec/json_read.h"
#include "table/parquet_lines.h"
#include "table/parquet_read.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  constexpr uint64_t kMostBytes = 1 << 20;
  if (const auto lines = table::parquet_lines(bytes, kMostBytes)) {
    if (lines->size() > kMostBytes) __builtin_trap();
    for (size_t at = 0; at < lines->size();) {
      const size_t end = lines->find('\n', at);
      if (!read_json(std::string_view(*lines).substr(at, end - at))) __builtin_trap();
      at = end == std::string::npos ? lines->size() : end + 1;
    }
  }
  table::ParquetLimits limits;
  limits.rows = 1000;
  limits.values = 100'000;
  for (const bool nested : {false, true}) {
    limits.nested = nested;
    const auto read = table::read_parquet(bytes, limits);
    if (!read) continue;
    if (read->rows > limits.rows) __builtin_trap();
    for (const table::ParquetColumn& column : read->columns) {
      if ((column.is_text ? column.codes.size() : column.numbers.size()) != read->rows)
        __builtin_trap();
      for (const uint32_t code : column.codes)
        if (code != table::ParquetColumn::kNull && code >= column.words.size()) __builtin_trap();
    }
  }
  return 0;
}
