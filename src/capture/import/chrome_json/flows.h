// Ties the flow events of a Chrome trace to the slices they point at, once all slices are known.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "capture/trace/builder.h"

namespace sonde::imports {

// Flows of one key belong together.
struct FlowKey {
  trace::StringId space = 0;  // kind and name of the flow
  uint64_t id = 0;
  auto operator<=>(const FlowKey&) const = default;
};

struct FlowEnd {
  FlowKey key;
  int64_t time_ps;
  trace::TrackId track;
  trace::StringId kind;
  char phase;     // s, t or f
  bool encloses;  // bp:"e": the slice around the time instead of the next one
};

// Brings the ends of one flow together, in the order of time.
void sort_flows(std::vector<FlowEnd>& ends);

// Adds a flow for each pair of sorted ends to the builder, which `settled` comes from; returns how
// many ends stayed without a partner or a slice.
uint64_t connect_flows(const std::vector<FlowEnd>& ends, const trace::Trace& settled,
                       trace::Builder& builder);

}  // namespace sonde::imports
