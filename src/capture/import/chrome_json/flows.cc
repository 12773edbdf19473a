#include "capture/import/chrome_json/flows.h"

#include <algorithm>
#include <tuple>

namespace sonde::imports {
namespace {

using trace::kNone;
using trace::SliceId;
constexpr int64_t kReach = 1'000'000'000;  // 1 ms: how far ahead a start may bind

// The slices of each track with the one around each.
class Lanes {
 public:
  explicit Lanes(const trace::Trace& trace) : trace_(trace), around_(trace.slice_count(), kNone) {
    std::vector<SliceId> open;
    for (const trace::Track& track : trace.tracks()) {
      open.clear();
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        while (!open.empty() && trace.end(open.back()) <= trace.begin(s)) open.pop_back();
        if (!open.empty()) around_[s] = open.back();
        open.push_back(s);
      }
    }
  }

  SliceId enclosing(const FlowEnd& end) const {
    const auto [first, last] = range(end);
    const SliceId after = first_from(first, last, end.time_ps + 1);
    for (SliceId s = after == first ? kNone : after - 1; s != kNone; s = around_[s]) {
      if (trace_.end(s).value >= end.time_ps) return s;
    }
    return kNone;
  }

  SliceId next(const FlowEnd& end, int64_t reach) const {
    const auto [first, last] = range(end);
    const SliceId at = first_from(first, last, end.time_ps);
    return at != last && trace_.begin(at).value - end.time_ps <= reach ? at : kNone;
  }

 private:
  std::pair<SliceId, SliceId> range(const FlowEnd& end) const {
    const trace::Track& track = trace_.tracks()[end.track];
    return {track.first_slice, track.first_slice + track.slices};
  }

  // The first slice of the range that begins at the time or later.
  SliceId first_from(SliceId first, SliceId last, int64_t time_ps) const {
    while (first < last) {
      const SliceId middle = first + (last - first) / 2;
      if (trace_.begin(middle).value < time_ps) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  const trace::Trace& trace_;
  std::vector<SliceId> around_;
};

}  // namespace

void sort_flows(std::vector<FlowEnd>& ends) {
  const auto rank = [](char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; };
  std::stable_sort(ends.begin(), ends.end(), [&](const FlowEnd& a, const FlowEnd& b) {
    return std::tuple(a.key, a.time_ps, rank(a.phase)) <
           std::tuple(b.key, b.time_ps, rank(b.phase));
  });
}

uint64_t connect_flows(const std::vector<FlowEnd>& ends, const trace::Trace& settled,
                       trace::Builder& builder) {
  if (ends.empty()) return 0;
  const Lanes lanes(settled);
  uint64_t dangling = 0;
  SliceId from = kNone;
  for (size_t i = 0; i < ends.size(); ++i) {
    const FlowEnd& end = ends[i];
    if (i == 0 || ends[i - 1].key != end.key) from = kNone;
    SliceId slice =
        end.phase == 'f' && !end.encloses ? lanes.next(end, INT64_MAX) : lanes.enclosing(end);
    if (slice == kNone && end.phase != 'f') slice = lanes.next(end, kReach);
    if (slice == kNone && end.phase == 'f' && !end.encloses) slice = lanes.enclosing(end);
    if (end.phase != 's') {
      if (from != kNone && slice != kNone && from != slice) {
        builder.flow(from, slice, end.kind);
      } else {
        ++dangling;
      }
    }
    from = end.phase == 'f' ? kNone : slice;
  }
  return dangling;
}

}  // namespace sonde::imports
