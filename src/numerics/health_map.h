// Every traced tensor over the steps: how large it was, how many zeros, where it went bad.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/dump.h"

namespace sonde::numerics {

struct HealthCell {
  float rms;    // the largest of the column; NaN: not known
  float zeros;  // the largest share of the column; NaN: not known
  uint8_t bad = kNone;
  bool is_there = false;
};

struct HealthRow {
  uint32_t traced = 0;
  int64_t first_bad = -1;  // column
  uint64_t order = 0;      // of its first trace
  std::vector<HealthCell> cells;
};

enum class HealthOrder : uint8_t { kProgram, kWentWrongFirst };

struct HealthMap {
  std::vector<int64_t> steps;  // where each column begins
  uint64_t total_rows = 0;
  std::vector<HealthRow> rows;  // the page that was asked for
};

// At most `most_columns` columns; steps between two of them are summed up.
HealthMap health_map(const Data& data, HealthOrder order, size_t from, size_t count,
                     size_t most_columns = 200);

}  // namespace sonde::numerics
