// Every traced tensor over the steps: how large it was, how many zeros, where it went bad. Several
// recordings (ranks of one job, two runs of one program) are laid side by side, tensor by tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "numerics/dump.h"

namespace sonde::numerics {

struct HealthCell {
  float rms;        // the largest of the column; NaN: not known
  float zeros;      // the largest share of the column; NaN: not known
  float wrong;      // share of NaN and infinities, the same
  float saturated;  // share of what the type can hold, the same
  uint8_t bad = kNone;
  bool is_there = false;
};

struct HealthRow {
  size_t part = 0;                             // the first recording that has it
  uint32_t traced = 0;                         // in that recording
  int64_t first_bad = -1;                      // column, the first of all recordings
  uint64_t order = 0;                          // of its first trace
  std::vector<std::vector<HealthCell>> cells;  // by recording; empty where it has no such tensor
};

enum class HealthOrder : uint8_t {
  kProgram,
  kWentWrongFirst,
  kModule,  // program order, each gradient below the output it belongs to
};

struct HealthMap {
  std::vector<int64_t> steps;  // where each column begins
  uint64_t total_rows = 0;
  std::vector<HealthRow> rows;  // the page that was asked for
};

// At most `most_columns` columns; steps between two of them are summed up.
HealthMap health_map(std::span<const Data* const> parts, HealthOrder order, size_t from,
                     size_t count, size_t most_columns = 200);

// By which a traced tensor is known in another recording: graph ids change from run to run, names
// and places do not.
std::string lasting_name(const Data& data, const Traced& traced);

}  // namespace sonde::numerics
