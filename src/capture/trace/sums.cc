// What took the time in a selection, by group, and what its counters did.
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>

#include "capture/trace/selected.h"

namespace sonde::trace {
namespace {

bool holds(const Track& track, Content content) {
  return content == Content::kPoints ? track.points > 0
                                     : track.slices > 0 && track.kind != TrackKind::kAggregate;
}

void merge(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  size_t kept = 0;
  for (size_t i = 1; i < stretches.size(); ++i) {
    if (stretches[i].begin <= stretches[kept].end) {
      stretches[kept].end = std::max(stretches[kept].end, stretches[i].end);
    } else {
      stretches[++kept] = stretches[i];
    }
  }
  stretches.resize(kept + 1);
}

// Gives each slice the number of its group's row.
class Groups {
 public:
  Groups(const Trace& trace, const Grouping& grouping) : trace_(trace), grouping_(grouping) {}

  uint32_t row_of(SliceId s, TrackId track) {
    switch (grouping_.by) {
      case GroupBy::kName:
        return row(trace_.label_id(s), {});
      case GroupBy::kTrack:
        return row(track, {});
      case GroupBy::kProcess:
        return row(process_of(track), {});
      case GroupBy::kCategory:
        return row(trace_.label(s).category, {});
      case GroupBy::kArgument:
        break;
    }
    const auto value = trace_.find(s, grouping_.key);
    if (!value) return row(kNone, {});
    const auto [at, is_new] = values_.emplace(std::pair{static_cast<int>(value->type), value->bits},
                                              static_cast<uint32_t>(values_.size()));
    return row(at->second, *value);
  }
  std::vector<GroupTotal>& rows() { return rows_; }

 private:
  TrackId process_of(TrackId track) const {
    for (int depth = 0; trace_.tracks()[track].parent != kNone && depth < 64; ++depth)
      track = trace_.tracks()[track].parent;
    return track;
  }
  uint32_t row(uint32_t group, ArgValue value) {
    const size_t place = group == kNone ? 0 : size_t{group} + 1;
    if (place >= known_.size()) known_.resize(place + 1, kNone);
    if (known_[place] == kNone) {
      known_[place] = static_cast<uint32_t>(rows_.size());
      rows_.push_back({});
      rows_.back().group = group;
      rows_.back().value = value;
      rows_.back().shortest = {INT64_MAX};
    }
    return known_[place];
  }

  const Trace& trace_;
  Grouping grouping_;
  std::vector<GroupTotal> rows_;
  std::vector<uint32_t> known_;  // row by group + 1: looked up for every slice
  boost::unordered_flat_map<std::pair<int, uint64_t>, uint32_t> values_;
};

}  // namespace

std::vector<SelectedTrack> selected_tracks(const Trace& trace, const Selection& selection,
                                           Content content) {
  std::vector<SelectedTrack> parts;
  std::vector<uint32_t> place(trace.tracks().size(), kNone);
  const auto add = [&](TrackId t, Picos begin, Picos end) {
    if (t >= trace.tracks().size() || end <= begin) return;
    if (place[t] == kNone) {
      place[t] = static_cast<uint32_t>(parts.size());
      parts.push_back({t, {}});
    }
    parts[place[t]].stretches.push_back({begin, end});
  };
  const auto add_area = [&](Picos begin, Picos end, const std::vector<TrackId>& tracks) {
    for (const TrackId t : tracks) add(t, begin, end);
    if (!tracks.empty()) return;
    for (TrackId t = 0; t < trace.tracks().size(); ++t) {
      if (holds(trace.tracks()[t], content)) add(t, begin, end);
    }
  };
  add_area(selection.begin, selection.end, selection.tracks);
  for (const Area& area : selection.also) add_area(area.begin, area.end, area.tracks);
  for (SelectedTrack& part : parts) merge(part.stretches);
  return parts;
}

std::vector<GroupTotal> totals(const Trace& trace, const Selection& selection,
                               const Grouping& grouping) {
  Groups groups(trace, grouping);
  std::vector<std::vector<int64_t>> durations;
  for_each_nested(trace, selection,
                  [&](SliceId s, const std::vector<SliceId>& stack, const SelectedTrack& part) {
                    const Picos inside = part.covered(trace.begin(s), trace.end(s));
                    const uint32_t at = groups.row_of(s, part.track);
                    bool is_outermost = true;
                    if (grouping.by != GroupBy::kName) {
                      is_outermost = std::none_of(stack.begin(), stack.end(), [&](SliceId above) {
                        return part.touches(trace, above) && groups.row_of(above, part.track) == at;
                      });
                    }
                    durations.resize(groups.rows().size());
                    GroupTotal& total = groups.rows()[at];
                    ++total.count;
                    if (is_outermost) total.total = total.total + inside;
                    total.self = total.self + inside;
                    total.all = total.all + inside;
                    total.shortest = std::min(total.shortest, trace.duration(s));
                    total.longest = std::max(total.longest, trace.duration(s));
                    durations[at].push_back(trace.duration(s).value);
                    if (!stack.empty() && part.touches(trace, stack.back())) {
                      const SliceId above = stack.back();
                      const Picos shared =
                          part.covered(trace.begin(s), std::min(trace.end(s), trace.end(above)));
                      GroupTotal& parent = groups.rows()[groups.row_of(above, part.track)];
                      parent.self = parent.self - shared;
                    }
                  });
  auto& rows = groups.rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& values = durations[i];
    const auto percentile = [&](size_t rank) {
      std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(rank), values.end());
      return Picos{values[rank]};
    };
    rows[i].p50 = percentile(values.size() / 2);
    rows[i].p99 = percentile(std::min(values.size() - 1, values.size() * 99 / 100));
  }
  std::sort(rows.begin(), rows.end(), [](const GroupTotal& a, const GroupTotal& b) {
    return a.total != b.total ? a.total > b.total : a.group < b.group;
  });
  return std::move(rows);
}

std::vector<CounterTotal> counter_totals(const Trace& trace, const Selection& selection) {
  std::vector<CounterTotal> rows;
  for (const SelectedTrack& part : selected_tracks(trace, selection, Content::kPoints)) {
    const Track& track = trace.tracks()[part.track];
    CounterTotal total{part.track};
    double weight = 0;  // seconds with a value
    bool has_value = false;
    for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p) {
      const double value = trace.point_value(p);
      const bool is_last = p + 1 == track.first_point + track.points;
      // A value holds until the next one; the last holds to the end.
      const Picos until = is_last ? part.stretches.back().end : trace.point_time(p + 1);
      const double held =
          static_cast<double>(part.covered(trace.point_time(p), until).value) * 1e-12;
      const bool is_inside =
          part.covered(trace.point_time(p), trace.point_time(p) + Picos{1}).value > 0;
      if (is_inside) ++total.points;
      if ((held <= 0 && !is_inside) || !std::isfinite(value)) continue;
      if (!has_value) total.min = total.max = total.first = value;
      has_value = true;
      total.min = std::min(total.min, value);
      total.max = std::max(total.max, value);
      total.last = value;
      total.integral += value * held;
      weight += held;
    }
    if (!has_value) continue;
    total.mean = weight > 0 ? total.integral / weight : total.last;
    rows.push_back(total);
  }
  return rows;
}

}  // namespace sonde::trace
