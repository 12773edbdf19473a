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
#include "capture/trace/trace.h"

namespace sonde::trace {

// A piece of time on some tracks.
struct Area {
  Picos begin, end;
  std::vector<TrackId> tracks;  // empty = all that have slices
};

// An area and those that were added to it. Where they overlap, time counts once.
struct Selection {
  Picos begin, end;
  std::vector<TrackId> tracks;  // empty = all that have slices
  std::vector<Area> also = {};
};

enum class GroupBy : uint8_t { kName, kTrack, kProcess, kCategory, kArgument };
struct Grouping {
  GroupBy by = GroupBy::kName;
  KeyId key = kNone;  // kArgument: whose values are the groups
};

// One group's share of a selection. Times are clipped to it; percentiles are over whole slices. A
// total is the sum of all slices of a name; of other groups it is the outermost ones', so that a
// track is never busier than time has passed.
struct GroupTotal {
  uint32_t group =
      0;           // LabelId, TrackId or StringId of a category; kNone: no category, no argument
  ArgValue value;  // of kArgument
  uint64_t count = 0;
  Picos total, self, all, shortest, longest;  // all: the sum over its slices, nested or not
  Picos p50, p99;
};
std::vector<GroupTotal> totals(const Trace& trace, const Selection& selection,
                               const Grouping& grouping = {});  // longest total first

// What a counter did in a selection. The mean weighs each value by how long it held.
struct CounterTotal {
  TrackId track = 0;
  uint64_t points = 0;
  double min = 0, max = 0, mean = 0, first = 0, last = 0;
  double integral = 0;  // value times seconds
};
std::vector<CounterTotal> counter_totals(const Trace& trace, const Selection& selection);

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

// How call stacks are put together. The texts are as in Search, without key=value; empty: not used.
struct FlameShape {
  enum class Direction : uint8_t { kTopDown, kBottomUp };
  Direction direction = Direction::kTopDown;
  std::string pivot;       // stacks begin at this frame, or from the bottom: end at it
  std::string keep_stack;  // only stacks with such a frame
  std::string drop_stack;  // no stack with such a frame
  std::string drop_frame;  // such frames are left out, their time stays
};
// Root first, parents before children. From the bottom a node's total is the time of the function
// at the root that was reached through it.
Result<std::vector<FlameNode>> reshaped(const Trace& trace, const std::vector<FlameNode>& nodes,
                                        const FlameShape& shape);

// Which labels a search text fits, by name.
Result<std::vector<bool>> labels_matching(const Trace& trace, const std::string& text);

// The part of a trace inside a selection as Chrome trace JSON, piece by piece (nothing at the end).
std::function<std::optional<std::string>()> chrome_json(std::shared_ptr<const Trace> trace,
                                                        Selection selection);

}  // namespace sonde::trace
