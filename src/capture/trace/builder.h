// Makes a Trace. Importers either append slices as they come (any order of tracks and times;
// finish() sorts) or, when they know all counts beforehand, take a Block per track and fill its
// columns from several threads at once. Strings, keys, labels and tracks are made by one thread.
//
//   Builder builder("kineto");
//   TrackId p = builder.process("python", 17), t = builder.track(TrackKind::kThread, p, "main",
//   17); SliceId s = builder.slice(t, begin, duration, builder.label("aten::mm"));
//   builder.arg("Input Dims", "[[2,3],[3,4]]");         // of the slice just added
//   Trace trace = std::move(builder).finish();
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/trace/trace.h"

namespace sonde::trace {

// Times of a hostile file, kept where begin + duration cannot overflow (26 days either way).
inline constexpr int64_t kTimeLimit = int64_t{1} << 61;
inline int64_t clamped_begin(int64_t ps) { return std::clamp(ps, -kTimeLimit, kTimeLimit); }
inline int64_t clamped_duration(int64_t ps) { return std::clamp<int64_t>(ps, 0, kTimeLimit); }

class Builder {
 public:
  explicit Builder(std::string_view format);

  void set_host(std::string_view host) { trace_.host_ = host; }
  void set_start_ns(int64_t ns) { trace_.start_ns_ = ns; }
  void set_format(std::string_view format) { trace_.format_ = format; }
  void add_metadata(std::string key, std::string value) {
    trace_.metadata_.emplace_back(std::move(key), std::move(value));
  }
  // Room for about so many: columns that need not grow are not copied. Room that stays unused is
  // never touched and costs no memory.
  void reserve(size_t slices, size_t args);
  void reserve_points(size_t points) { points_.reserve(points); }
  void reserve_names(size_t labels, size_t flows);  // where slices have names of their own
  // Moves time 0: taken off every time at finish(). For formats whose earliest time is known last.
  void set_origin(Picos origin) { origin_ = origin; }
  size_t slice_count() const { return trace_.begin_.size(); }
  void diagnose(Diagnostic::Severity severity, std::string text);

  // --- tables ---
  StringId string(std::string_view text) { return trace_.strings_.id(text); }
  std::string_view text(StringId id) const { return trace_.strings_.text(id); }
  KeyId key(std::string_view name) { return trace_.strings_.id(name); }
  StringId find(std::string_view text) const { return trace_.strings_.find(text); }  // or kNone
  // The label of slices called `name`; asking again gives the same one.
  LabelId label(std::string_view name, std::string_view category = {});
  // A label of its own, even when another has the same name (metadata of one plane).
  LabelId own_label(StringId name, StringId display_name, ArgRange args, StringId category = kNone);
  uint64_t blob(std::string bytes);

  // --- tracks ---
  TrackId process(std::string_view name, int64_t id);
  TrackId track(TrackKind kind, TrackId parent, std::string_view name, int64_t id);
  Track& edit(TrackId track) { return trace_.tracks_[track]; }
  // Arguments that belong to no slice (of a track or a label). Not to be mixed with slice() below:
  // give tables their arguments first.
  ArgRange add_args(std::span<const Arg> args);

  // --- slices one by one ---
  size_t arg_count() const { return trace_.arg_key_.size(); }
  SliceId slice(TrackId track, Picos begin, Picos duration, LabelId label);
  void set_duration(SliceId provisional, Picos duration) {
    trace_.duration_[provisional] = duration.value;
  }
  // Of a slice by the id slice() gave it.
  Picos begin_of(SliceId provisional) const { return {trace_.begin_[provisional]}; }
  Picos end_of(SliceId provisional) const {
    return {trace_.begin_[provisional] + trace_.duration_[provisional]};
  }
  TrackId track_of(SliceId provisional) const { return slice_track_[provisional]; }
  // Of the slice added last.
  void arg(KeyId key, ArgValue value);
  void arg(std::string_view key_name, std::string_view text);
  void arg(std::string_view key_name, int64_t value);
  void arg(std::string_view key_name, double value);

  void point(TrackId counter, Picos time, double value);
  // All points of a counter at once, in order of time: `next` gives one after the other.
  template <class Next>
  void points(TrackId counter, size_t count, const Next& next) {
    Track& track = trace_.tracks_[counter];
    track.first_point = static_cast<uint32_t>(trace_.point_time_.size());
    track.points = static_cast<uint32_t>(count);
    for (size_t i = 0; i < count; ++i) {
      const auto [time, value] = next(i);
      trace_.point_time_.push_back(clamped_begin(time));
      trace_.point_value_.push_back(value);
    }
  }
  // Ids are those slice() returned, which settle() translates, or after it those of its trace.
  void flow(SliceId from, SliceId to, StringId kind) { trace_.flows_.push_back({from, to, kind}); }
  void flow(SliceId from, SliceId to, std::string_view kind) { flow(from, to, string(kind)); }

  // --- slices in bulk ---
  // Room for the slices of one track, in file order. The spans may be filled by another thread, and
  // stay valid until the next call that adds slices or arguments, so take all blocks first by
  // calling blocks() once.
  struct BlockSize {
    TrackId track;
    uint32_t slices, args;
  };
  struct Block {
    std::span<int64_t> begin, duration;
    std::span<LabelId> label;
    std::span<uint32_t> arg_end;  // absolute index after the slice's last argument
    uint32_t first_arg = 0;
    std::span<uint32_t> arg_key;  // key << 3 | type
    std::span<uint64_t> arg_bits;
    uint32_t used = 0, used_args = 0;  // set by the filler; less than the sizes is allowed
  };
  std::vector<Block> blocks(std::span<const BlockSize> sizes);
  void set_used(std::vector<Block> filled) { blocks_ = std::move(filled); }

  // Sorts and nests the slices, for importers that tie flows to what lies around a time. No slice,
  // argument or point may be added after it.
  const Trace& settle();
  // Settles, checks. The builder is spent.
  Trace finish() &&;

 private:
  void drop_unused_block_room();
  std::vector<uint32_t> sorted_order() const;
  void sort_slices();
  void nest();
  void sort_points();
  void index_children();

  Trace trace_;
  Picos origin_;
  bool is_settled_ = false;
  std::vector<TrackId> slice_track_;  // of slices added one by one
  struct Point {
    TrackId track;
    int64_t time;
    double value;
  };
  std::vector<Point> points_;
  std::vector<BlockSize> sizes_;
  std::vector<Block> blocks_;
  boost::unordered_flat_map<uint64_t, LabelId> label_ids_;
};

inline uint32_t packed_key(KeyId key, ArgType type) {
  return key << 3 | static_cast<uint32_t>(type);
}

}  // namespace sonde::trace
