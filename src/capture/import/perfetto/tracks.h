// The tracks of a Perfetto trace: described by packets anywhere in the file, in one another, in
// processes and threads, or only mentioned by an event. Made in order of their numbers, once all
// descriptions are known.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "capture/trace/builder.h"

namespace sonde::imports::perfetto {

inline constexpr int kMaxNesting = 8;  // of tracks in tracks and of annotations

struct Described {
  std::string name, process_name, thread_name;
  uint64_t parent = 0;
  int64_t process = -1, thread = -1, order = 0;
  bool is_counter = false, is_incremental = false;
  int64_t multiplier = 1;
  trace::TrackId track = trace::kNone;
};

class Tracks {
 public:
  explicit Tracks(trace::Builder& builder) : builder_(builder) {}

  void describe(Bytes descriptor, bool& cut);
  void mention(uint64_t uuid) { described_.try_emplace(uuid); }
  void make_all();

  // Of a track that was described or mentioned.
  const Described& of(uint64_t uuid) { return described_[uuid]; }
  // Where its slices go: a lane below it when it is a process.
  trace::TrackId lane_of(uint64_t uuid);
  // Where its values go: a counter beside it when it is none.
  trace::TrackId counter_of(uint64_t uuid);

 private:
  trace::TrackId process_for(int64_t process, const std::string& name);
  trace::TrackId track_of(uint64_t uuid, int depth);

  trace::Builder& builder_;
  boost::unordered_flat_map<uint64_t, Described> described_;
  boost::unordered_flat_map<int64_t, trace::TrackId> processes_;
  boost::unordered_flat_map<trace::TrackId, trace::TrackId> process_lanes_;
  boost::unordered_flat_map<uint64_t, trace::TrackId> counters_;
};

std::string clean(std::string_view text);  // UTF-8, whatever it was

}  // namespace sonde::imports::perfetto
