// Questions a person asks of a trace beside looking at it: what took the time in this range, where
// does this name occur, how do the call stacks add up. Exact, never sampled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace sonde::trace {

struct Selection {
  Picos begin, end;
  std::vector<TrackId> tracks;  // empty = all that have slices
};

// One name's share of a selection. Times are clipped to it; percentiles are over whole slices.
struct NameTotal {
  LabelId label = 0;
  uint64_t count = 0;
  Picos total, self, longest;
  Picos p50, p99;
};
std::vector<NameTotal> totals(const Trace& trace,
                              const Selection& selection);  // longest total first

// Time of each slice's own, without its children, for the slices of one track.
Picos self_time(const Trace& trace, SliceId slice);
// The slice that directly encloses this one, kNone at depth 0.
SliceId parent_of(const Trace& trace, SliceId slice);

struct Search {
  std::string text;  // substring, any case; "/re/" is a regular expression; "key=value" looks into
                     // arguments
  Selection where;
  SliceId after = kNone;  // hits behind this slice, in order of time; kNone: from the start
  uint32_t limit = 100;
  uint32_t pixels = 0;  // > 0: how many hits begin in each of so many parts of the range
};
struct Hits {
  uint64_t total = 0;
  std::vector<SliceId> slices;  // in order of time
  std::vector<uint32_t> per_pixel;
};
Result<Hits> search(const Trace& trace, const Search& question);

// Call stacks of a selection merged: the same name under the same parent is one node.
struct FlameNode {
  LabelId label = kNone;
  uint32_t parent = kNone;
  uint64_t count = 0;
  Picos total, self;
};
std::vector<FlameNode> flame(const Trace& trace,
                             const Selection& selection);  // parents before children

// The part of a trace inside a selection as Chrome trace JSON, piece by piece (nothing at the end).
std::function<std::optional<std::string>()> chrome_json(std::shared_ptr<const Trace> trace,
                                                        Selection selection);

}  // namespace sonde::trace
