// Steps of a capture that marks none: what comes back once a round, on the thread that runs the
// loop.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/pytorch/ranges.h"
#include "capture/trace/trace.h"

namespace sonde::capture::loop {

struct Occurrence {
  pytorch::Range range;
  trace::LabelId label;
};

// Which rounds are the steps: those that most names agree on, or, of a program that calls the same
// few small operations again and again, the longest.
enum class Rounds : uint8_t { kAgreed, kLongest };

// Rounds of names that come back at even distances, each from the earliest name. Nothing when there
// are no such names. Occurrences are sorted by begin.
std::vector<pytorch::Range> recurring(const std::vector<Occurrence>& occurrences, Rounds which);
// Whether these come at even distances and fill most of the time they span.
bool is_even(const std::vector<pytorch::Range>& ranges, int64_t whole);

}  // namespace sonde::capture::loop
