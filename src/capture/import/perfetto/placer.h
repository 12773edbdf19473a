// Makes slices, counters and flows of a Perfetto trace's events. Begins and ends of a track belong
// together by time; files are in that order track by track, so an event is placed as it comes, and
// only those of a track that is not in order wait until all are there.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/import/perfetto/tracks.h"
#include "capture/trace/builder.h"

namespace sonde::imports::perfetto {

enum Type : uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

struct Event {
  int64_t time = 0;  // ps since the first event of the file
  uint64_t track = 0;
  double value = 0;
  trace::LabelId label = trace::kNone;
  uint32_t args = 0, flows = 0, ending = 0;  // how many of each follow
  Type type = kInstant;
};

class Placer {
 public:
  Placer(trace::Builder& builder, Tracks& tracks);

  // First walk: learns which tracks are in order of time, and how much there is.
  void survey(uint64_t track, int64_t time, Type type, uint32_t args);
  void surveyed();

  // Second walk. `flows` holds those the event passes on, then those that end with it.
  void take(const Event& event, std::span<const trace::Arg> args, std::span<const uint64_t> flows);
  void finish();

  bool is_empty() const { return earliest_ > latest_; }
  int64_t earliest() const { return earliest_; }
  uint64_t stray_ends() const { return stray_ends_; }
  uint64_t unfinished() const { return unfinished_; }

 private:
  struct Lane {
    int64_t last = INT64_MIN;
    bool is_sorted = true;
    double sum = 0;
    trace::TrackId slices = trace::kNone, values = trace::kNone;
    std::vector<trace::SliceId> open = {};
  };
  struct FlowEnd {
    uint64_t id;
    trace::SliceId slice;
    bool ends;
  };
  void place(Lane& lane, const Event& event, std::span<const trace::Arg> args,
             std::span<const uint64_t> flows);
  void connect();

  trace::Builder& builder_;
  Tracks& tracks_;
  boost::unordered_flat_map<uint64_t, Lane> lanes_;
  std::vector<FlowEnd> flow_ends_;
  std::vector<Event> waiting_;  // of tracks that are not in order
  std::vector<trace::Arg> waiting_args_;
  std::vector<uint64_t> waiting_flows_;
  int64_t earliest_ = INT64_MAX, latest_ = INT64_MIN;
  size_t slices_ = 0, args_ = 0, points_ = 0;
  uint64_t stray_ends_ = 0, unfinished_ = 0;
  trace::KeyId phase_;
  trace::StringId instant_;
};

}  // namespace sonde::imports::perfetto
