// Ties the flow events of a Chrome trace to the slices they point at, once all slices are known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace sonde::imports {

struct FlowEnd {
  trace::TrackId track;
  int64_t time_ps;
  uint32_t key;   // flows of one key belong together
  char phase;     // s, t or f
  bool encloses;  // bp:"e": the slice around the time instead of the next one
};

struct PlacedSlice {
  trace::TrackId track;
  int64_t begin_ps, end_ps;
  trace::SliceId id;  // as Builder::slice() gave it
};

// Adds a flow for each pair found; returns how many ends stayed without a partner or a slice.
uint64_t connect_flows(std::vector<FlowEnd> ends, std::vector<PlacedSlice> slices,
                       const std::vector<std::string>& kinds, trace::Builder& builder);

}  // namespace sonde::imports
