#include "import/chrome_json/flows.h"

#include <algorithm>
#include <tuple>

namespace sonde::imports {
namespace {

using trace::kNone;
using trace::SliceId;
constexpr int64_t kReach = 1'000'000'000;  // 1 ms: how far ahead a start may bind

// Slices by (track, begin, longest first) with the index of the one around each.
class Lanes {
 public:
  explicit Lanes(std::vector<PlacedSlice> slices)
      : slices_(std::move(slices)), around_(slices_.size(), kNone) {
    std::stable_sort(slices_.begin(), slices_.end(),
                     [](const PlacedSlice& a, const PlacedSlice& b) {
                       return std::tuple(a.track, a.begin_ps, -a.end_ps) <
                              std::tuple(b.track, b.begin_ps, -b.end_ps);
                     });
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      while (!open.empty() && (slices_[open.back()].track != slices_[i].track ||
                               slices_[open.back()].end_ps <= slices_[i].begin_ps))
        open.pop_back();
      around_[i] = open.empty() ? kNone : open.back();
      open.push_back(i);
    }
  }

  SliceId enclosing(const FlowEnd& end) const {
    for (uint32_t i = last_before(end); i != kNone; i = around_[i]) {
      if (slices_[i].end_ps >= end.time_ps) return slices_[i].id;
    }
    return kNone;
  }

  SliceId next(const FlowEnd& end, int64_t reach) const {
    const auto at = std::lower_bound(
        slices_.begin(), slices_.end(), end, [](const PlacedSlice& s, const FlowEnd& e) {
          return std::tie(s.track, s.begin_ps) < std::tie(e.track, e.time_ps);
        });
    const bool found =
        at != slices_.end() && at->track == end.track && at->begin_ps - end.time_ps <= reach;
    return found ? at->id : kNone;
  }

 private:
  // The last slice of the track that begins at or before the time.
  uint32_t last_before(const FlowEnd& end) const {
    const auto after = std::upper_bound(
        slices_.begin(), slices_.end(), end, [](const FlowEnd& e, const PlacedSlice& s) {
          return std::tie(e.track, e.time_ps) < std::tie(s.track, s.begin_ps);
        });
    if (after == slices_.begin() || (after - 1)->track != end.track) return kNone;
    return static_cast<uint32_t>(after - slices_.begin() - 1);
  }

  std::vector<PlacedSlice> slices_;
  std::vector<uint32_t> around_;
};

}  // namespace

uint64_t connect_flows(std::vector<FlowEnd> ends, std::vector<PlacedSlice> slices,
                       const std::vector<std::string>& kinds, trace::Builder& builder) {
  if (ends.empty()) return 0;
  const Lanes lanes(std::move(slices));
  const auto rank = [](char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; };
  std::stable_sort(ends.begin(), ends.end(), [&](const FlowEnd& a, const FlowEnd& b) {
    return std::tuple(a.key, a.time_ps, rank(a.phase)) <
           std::tuple(b.key, b.time_ps, rank(b.phase));
  });
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
        builder.flow(from, slice, kinds[end.key]);
      } else {
        ++dangling;
      }
    }
    from = end.phase == 'f' ? kNone : slice;
  }
  return dangling;
}

}  // namespace sonde::imports
