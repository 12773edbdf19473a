// Rows of small calls: operations handed over one by one, so short that what a call costs is more
// than what it does.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/loop/loop.h"

namespace sonde::capture::loop {

// An outermost call of the framework on the loop's thread, and what was found inside it.
struct Call {
  int64_t begin, end;
  trace::LabelId label;
  bool function = false, other = false;  // runs a compiled function; is input, a checkpoint …
  int64_t compile_end = 0;
  bool checkpoint = false;
  uint32_t operations = 0;
  int64_t longest_ps = 0;  // of what is inside, the most that one slice does itself
};

enum class RowKind : uint8_t { kPyTorch, kJax, kTensorFlow };

// The rows among the calls, which come in order of time and do not overlap.
std::vector<Chain> rows_of(const std::vector<Call>& calls, const std::vector<Period>& periods,
                           RowKind kind);

}  // namespace sonde::capture::loop
