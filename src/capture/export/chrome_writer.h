// Writes a timeline of several runs as Chrome trace JSON: compact, an event a line, names first,
// then slices in order of (process, lane, time, longest first). Every slice of the inputs that the
// filter keeps is in the output; what has no place there is counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/export/filter.h"
#include "capture/export/layout.h"
#include "capture/export/tracks.h"
#include "io/text_out.h"

namespace sonde::exports {

struct Window {  // on the axis, ps
  int64_t begin = INT64_MIN, end = INT64_MAX;
};

struct Drawing {
  std::span<const Run> runs;
  Axis axis;
  Filter filter;
  Window window;
  const Options* options = nullptr;
  bool separates_runs = false;  // merge: an instant and a label for each run
};

struct Written {
  uint64_t slices = 0, points = 0, flows = 0, instants = 0;
  uint64_t total_ps = 0;            // sum of the durations, modulo 2^64
  std::vector<std::string> losses;  // sentences
};

// Slices of a lane over all its runs in order of time, those the filter and the window keep.
struct Placed {
  int64_t begin, duration;
  uint32_t run;
  trace::TrackId track;
  trace::SliceId slice;
};
std::vector<Placed> slices_of(const Drawing& drawing, const Lane& lane,
                              std::span<const Filter::ForRun> filters);
LaneOptions lane_options(const Drawing& drawing);
// Name of the separator in front of a run: "run 3 · step 300 · 5.5 ms".
std::string separator_name(const Drawing& drawing, size_t run);

Written write_chrome(const Drawing& drawing, io::TextOut& out);

}  // namespace sonde::exports
