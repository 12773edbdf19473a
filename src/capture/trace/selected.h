// The slices of a selection, track by track, with the slices around them. Shared by the questions
// that add up what is inside.
#pragma once

#include <algorithm>
#include <vector>

#include "capture/trace/questions.h"

namespace sonde::trace {

struct Stretch {
  Picos begin, end;
};

// What a selection takes of one track: stretches of time, disjoint and in order.
struct SelectedTrack {
  TrackId track = 0;
  std::vector<Stretch> stretches;

  // How much of [begin, end) is selected.
  Picos covered(Picos begin, Picos end) const {
    Picos sum{0};
    for (const Stretch& one : stretches)
      sum = sum + std::max(Picos{0}, std::min(end, one.end) - std::max(begin, one.begin));
    return sum;
  }
  bool touches(const Trace& trace, SliceId s) const {
    const bool instant = trace.duration(s).value == 0;
    return std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& one) {
      return trace.begin(s) < one.end &&
             (trace.end(s) > one.begin || (instant && trace.begin(s) >= one.begin));
    });
  }
};

// Tracks that hold slices (counters: points), in the order in which the selection names them.
enum class Content : uint8_t { kSlices, kPoints };
std::vector<SelectedTrack> selected_tracks(const Trace& trace, const Selection& selection,
                                           Content content = Content::kSlices);

// Calls fn(slice, stack of the slices around it, innermost last, its SelectedTrack) for each slice
// of the selection.
template <class Fn>
void for_each_nested(const Trace& trace, const Selection& selection, Fn&& fn) {
  std::vector<SliceId> stack;
  for (const SelectedTrack& part : selected_tracks(trace, selection)) {
    const Track& track = trace.tracks()[part.track];
    const Picos end = part.stretches.back().end;
    stack.clear();
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (trace.begin(s) >= end) break;
      while (!stack.empty() && trace.depth(stack.back()) >= trace.depth(s)) stack.pop_back();
      if (part.touches(trace, s)) fn(s, stack, part);
      stack.push_back(s);
    }
  }
}

}  // namespace sonde::trace
