// The rows of a table beside those of the same table in another capture, the baseline: the same
// text cells mean the same row.
#pragma once

#include <vector>

#include "capture/report/report.h"
#include "codec/json.h"

namespace sonde::capture {

using Row = std::vector<Cell>;

// Of rows with the same text the first belongs to the first, the second to the second.
struct RowPairs {
  std::vector<const Row*> base;  // of every row; nullptr where the baseline has none
  std::vector<const Row*> gone;  // rows of the baseline only, in its order
};
RowPairs pairs_of(const Table& table, const Table* baseline);

// A row as JSON; paired, every number is [value, baseline].
enum class Paired : uint8_t { kNo, kYes };
void append_row(JsonWriter& json, const Row& row, const Row* base, Paired paired);
// A row that only the baseline has: numbers are [null, baseline].
void append_gone(JsonWriter& json, const Row& base);

}  // namespace sonde::capture
