// The parts of reading an XSpace that work on one plane or one line. Internal to this folder.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/intern.h"
#include "capture/import/page_releaser.h"
#include "capture/trace/builder.h"

namespace sonde::imports::xplane {

// Metadata id -> index. Ids are small and dense except on TPU and in old HLO planes.
class IdMap {
 public:
  void set(int64_t id, uint32_t value) {
    if (id >= 0 && id < kDense) {
      if (static_cast<size_t>(id) >= dense_.size())
        dense_.resize(static_cast<size_t>(id) + 1, trace::kNone);
      dense_[static_cast<size_t>(id)] = value;
    } else {
      sparse_[id] = value;
    }
  }
  uint32_t get(int64_t id) const {
    if (id >= 0 && static_cast<size_t>(id) < dense_.size()) return dense_[static_cast<size_t>(id)];
    if (sparse_.empty()) return trace::kNone;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? trace::kNone : found->second;
  }

 private:
  static constexpr int64_t kDense = 1 << 16;  // bounds what a hostile id can make us allocate
  std::vector<uint32_t> dense_;
  boost::unordered_flat_map<int64_t, uint32_t> sparse_;
};

struct Line {
  Bytes bytes;
  int64_t id = 0, display_id = 0, timestamp_ns = 0, duration_ps = 0;
  std::string_view name = {}, display_name = {};
  uint32_t events = 0, args = 0;  // with a place in time
  uint32_t aggregated = 0, aggregated_args = 0;
  trace::TrackId track = trace::kNone, aggregate_track = trace::kNone;
  size_t block = 0;
  uint64_t damaged = 0, nameless = 0;
  StringTable local_text = {};  // of str_value stats, until all lines are read
  std::vector<std::string> local_blobs = {};
};

struct Plane {
  int64_t id = 0;
  std::string_view name;
  std::vector<Line> lines;
  IdMap stat_text;    // stat metadata id -> StringId of its name
  IdMap event_label;  // event metadata id -> LabelId
  std::vector<trace::Arg> args;
  size_t event_metadata_count = 0, stat_metadata_count = 0;
  trace::LabelId unnamed = trace::kNone;
};

void read_stat_metadata(std::span<const Bytes> entries, Plane& plane, trace::Builder& builder);
void read_event_metadata(std::span<const Bytes> entries, Plane& plane, trace::Builder& builder);
std::vector<trace::Arg> read_args(std::span<const Bytes> stats, const Plane& plane,
                                  trace::Builder& builder);

// Start of a line in picoseconds of the trace, safe against overflow.
int64_t line_base_ps(int64_t timestamp_ns, int64_t subtract_ns);

// The line's own fields and how many events and stats it has.
void count(Line& line, const PartRead& part_read);

struct Fill {
  const Plane& plane;
  Line& line;
  trace::Builder::Block& block;
  trace::Builder::Block* aggregate;  // null when the line has no aggregated events
  trace::KeyId occurrences;
  int64_t subtract_ns;
  const PartRead& part_read;
};
// Decodes the line's events into its blocks; may run on any thread.
void fill(Fill& fill);
// Moves the text and bytes that fill() kept aside into the builder's tables.
void intern_local_text(Line& line, trace::Builder::Block& block, trace::Builder& builder);

}  // namespace sonde::imports::xplane
