// Where the steps of a loop begin: what the program marked, what was derived from calls of its
// programs, or else what comes back once a round.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/loop/words.h"
#include "capture/trace/trace.h"

namespace sonde::capture {
class HostAnalysis;
}

namespace sonde::capture::loop {

struct Mark {
  int64_t begin, end;
};

struct Marks {
  trace::TrackId thread = trace::kNone;
  std::vector<Mark> list;  // by begin; fewer than two: there is no loop
  bool open_end = false;   // the marks are no steps, but come once in each
  bool rounds = false;     // not even that: names that come back
};

// `words` and `profiler` (functions of the profiler itself) are by label.
Marks marks_of(const HostAnalysis& host, const std::vector<Word>& words,
               const std::vector<bool>& profiler);

}  // namespace sonde::capture::loop
