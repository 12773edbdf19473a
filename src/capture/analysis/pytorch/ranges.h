// Sets of time on one axis: half-open ranges in ps, and what the views do with them. A merged list
// is sorted and its ranges neither touch nor overlap; every function here takes and gives merged
// lists except merged() itself.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::capture::pytorch {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};
using Ranges = std::vector<Range>;

Ranges merged(Ranges ranges);
Ranges intersection(const Ranges& a, const Ranges& b);
Ranges difference(const Ranges& a, const Ranges& b);
int64_t total(const Ranges& ranges);
// Length of the part of the list inside one range.
int64_t total_inside(const Ranges& ranges, Range window);

// Adds to a list whose ranges come in order of begin: neighbours that touch become one at once, so
// that nested slices of a thread cost one entry.
inline void append(Ranges& ranges, Range range) {
  if (range.end <= range.begin) return;
  if (!ranges.empty() && range.begin >= ranges.back().begin && range.begin <= ranges.back().end) {
    if (range.end > ranges.back().end) ranges.back().end = range.end;
    return;
  }
  ranges.push_back(range);
}

}  // namespace sonde::capture::pytorch
