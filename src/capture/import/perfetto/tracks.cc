#include "capture/import/perfetto/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "capture/import/salvage.h"

namespace sonde::imports::perfetto {

using trace::kNone;
using trace::TrackId;
using trace::TrackKind;

std::string clean(std::string_view text) {
  return is_utf8(text) ? std::string(text) : to_utf8(text);
}

void Tracks::describe(Bytes descriptor, bool& cut) {
  uint64_t uuid = 0;
  Described d;
  walk_fields(descriptor, cut, [&](const wire::Field& f) {
    if (!f.is_bytes()) {
      if (f.number == 1) uuid = f.bits;
      if (f.number == 5) d.parent = f.bits;
      if (f.number == 12) d.order = f.as_int();
      return;
    }
    if (f.number == 2 || f.number == 10) d.name = clean(f.text());
    if (f.number == 3 || f.number == 4) {
      walk_fields(f.bytes, cut, [&](const wire::Field& p) {
        if (p.number == 1 && !p.is_bytes()) d.process = p.as_int();
        if (f.number == 3 && p.number == 6 && p.is_bytes()) d.process_name = clean(p.text());
        if (f.number == 4 && p.number == 2 && !p.is_bytes()) d.thread = p.as_int();
        if (f.number == 4 && p.number == 5 && p.is_bytes()) d.thread_name = clean(p.text());
      });
      if (f.number == 4 && d.thread < 0) d.thread = 0;
      if (f.number == 3 && d.process < 0) d.process = 0;
    }
    if (f.number == 8) {
      d.is_counter = true;
      walk_fields(f.bytes, cut, [&](const wire::Field& c) {
        if (c.number == 4 && !c.is_bytes()) d.multiplier = c.as_int();
        if (c.number == 5 && !c.is_bytes()) d.is_incremental = c.as_bool();
      });
    }
  });
  described_.insert_or_assign(uuid, std::move(d));
}

void Tracks::make_all() {
  std::vector<uint64_t> order;
  for (const auto& [uuid, described] : described_) order.push_back(uuid);
  std::sort(order.begin(), order.end());
  for (const uint64_t uuid : order) track_of(uuid, 0);
}

TrackId Tracks::process_for(int64_t process, const std::string& name) {
  const auto [at, added] = processes_.try_emplace(process, kNone);
  if (added)
    at->second = builder_.process(
        name.empty() ? (process < 0 ? std::string("trace") : fmt::format("process {}", process))
                     : name,
        process);
  return at->second;
}

TrackId Tracks::track_of(uint64_t uuid, int depth) {
  Described& d = described_[uuid];
  if (d.track != kNone) return d.track;
  if (depth > kMaxNesting) return process_for(-1, "");  // tracks that contain each other
  if (d.process >= 0 && d.thread < 0 && !d.is_counter) {
    d.track = process_for(d.process, d.process_name.empty() ? d.name : d.process_name);
    builder_.edit(d.track).order = d.order;
    return d.track;
  }
  // Lanes stand directly below their process, however deep the file nests them.
  TrackId parent = kNone;
  if (d.parent != 0 && d.parent != uuid && described_.contains(d.parent)) {
    const TrackId above = track_of(d.parent, depth + 1);
    parent = builder_.edit(above).parent == kNone ? above : builder_.edit(above).parent;
  }
  if (d.track != kNone) return d.track;  // made on the way round
  if (parent == kNone) parent = process_for(d.process, d.process_name);
  const std::string name = !d.thread_name.empty() ? d.thread_name
                           : !d.name.empty()      ? d.name
                           : d.thread >= 0        ? fmt::format("thread {}", d.thread)
                                                  : fmt::format("track {}", uuid);
  d.track = builder_.track(d.is_counter ? TrackKind::kCounter : TrackKind::kThread, parent, name,
                           std::max<int64_t>(0, d.thread));
  builder_.edit(d.track).order = d.order;
  return d.track;
}

TrackId Tracks::lane_of(uint64_t uuid) {
  const TrackId track = track_of(uuid, 0);
  if (builder_.edit(track).kind != TrackKind::kProcess) return track;
  const auto [at, added] = process_lanes_.try_emplace(track, kNone);
  if (added) at->second = builder_.track(TrackKind::kThread, track, "events", 0);
  return at->second;
}

TrackId Tracks::counter_of(uint64_t uuid) {
  const TrackId track = track_of(uuid, 0);
  if (builder_.edit(track).kind == TrackKind::kCounter) return track;
  const auto [at, added] = counters_.try_emplace(uuid, kNone);
  if (added) {
    const TrackId above = builder_.edit(track).parent;
    at->second = builder_.track(TrackKind::kCounter, above == kNone ? track : above, "counter", 0);
  }
  return at->second;
}

}  // namespace sonde::imports::perfetto
