// A capture in memory: tracks, slices, arguments, counters and flows as columns. Whatever the file
// format was, every tool reads this and nothing else. A Trace is immutable once built and may be
// read from any number of threads; it holds no view into the file it came from.
//
// Times are Picos since the trace's own start; start_ns() is that start on the wall clock. The
// slices of a track are neighbours in the columns, ordered by (begin, longest first), so a track is
// a range and nesting is a stack walk. Text is interned: a slice refers to a Label (its name and
// what all slices of that name have in common), an argument to a key and, if it is text, to a
// string.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/units.h"

namespace sonde::trace {

using StringId = uint32_t;
using KeyId = StringId;  // keys are interned with all other text
using LabelId = uint32_t;
using TrackId = uint32_t;
using SliceId = uint32_t;
inline constexpr uint32_t kNone = UINT32_MAX;

enum class TrackKind : uint8_t {
  kProcess,    // a host process or a device; holds other tracks
  kThread,     // a host thread
  kStream,     // a device queue: GPU stream, line of a TPU core
  kCounter,    // values over time
  kAsync,      // slices that overlap without nesting
  kAggregate,  // sums without a start time: no place on the time axis
};
std::string_view name_of(TrackKind kind);  // "process", "thread" …

enum class ArgType : uint8_t { kInt, kUint, kDouble, kText, kBytes, kBool };

// One argument's value. Numbers change their wire type between producers and versions, so read them
// with as_int()/as_uint()/as_double(), which accept every numeric type.
struct ArgValue {
  ArgType type = ArgType::kInt;
  uint64_t bits = 0;  // the number; StringId of a text; index of a blob

  bool is_number() const { return type != ArgType::kText && type != ArgType::kBytes; }
  int64_t as_int() const;
  uint64_t as_uint() const { return static_cast<uint64_t>(as_int()); }
  double as_double() const;
};

struct Arg {
  KeyId key = kNone;
  ArgValue value;
};

// A range of arguments in the trace's argument columns.
struct ArgRange {
  uint32_t first = 0, count = 0;
};

struct Track {
  TrackKind kind = TrackKind::kThread;
  TrackId parent = kNone;
  StringId name = 0;
  StringId display_name = kNone;  // what people see when it differs from the name
  int64_t id = 0;                 // thread, stream or process number as the producer wrote it
  int64_t order = 0;              // place among its siblings; equal: as they come
  uint32_t first_slice = 0, slices = 0;
  uint32_t first_point = 0, points = 0;  // counters
  uint16_t depth = 0;                    // levels of nesting of its slices
  ArgRange args;                         // of a process: device properties, versions, options
};

// A name of slices with what all of them share.
struct Label {
  StringId name = 0;
  StringId display_name = kNone;
  StringId category = kNone;
  ArgRange args;
};

struct Flow {
  SliceId from = kNone, to = kNone;
  StringId kind = kNone;
};

struct Diagnostic {
  enum class Severity : uint8_t { kInfo, kWarning, kError };
  Severity severity = Severity::kWarning;
  std::string text;  // one sentence that names the place
};

class Trace {
 public:
  // --- slices ---
  uint32_t slice_count() const { return static_cast<uint32_t>(begin_.size()); }
  Picos begin(SliceId s) const { return {begin_[s]}; }
  Picos duration(SliceId s) const { return {duration_[s]}; }
  Picos end(SliceId s) const { return {begin_[s] + duration_[s]}; }
  LabelId label_id(SliceId s) const { return label_[s]; }
  uint16_t depth(SliceId s) const { return depth_[s]; }
  const Label& label(SliceId s) const { return labels_[label_[s]]; }
  std::string_view name(SliceId s) const { return text(labels_[label_[s]].name); }
  // The name for people: the display name where the producer gave one.
  std::string_view shown_name(SliceId s) const { return shown_name_of(labels_[label_[s]]); }
  std::string_view shown_name_of(const Label& label) const {
    return text(label.display_name == kNone ? label.name : label.display_name);
  }
  TrackId track_of(SliceId s) const;  // binary search
  ArgRange args(SliceId s) const { return {first_arg_[s], first_arg_[s + 1] - first_arg_[s]}; }

  // --- arguments ---
  KeyId key(std::string_view name) const { return strings_.find(name); }  // kNone: nobody has it
  std::string_view key_name(KeyId key) const { return strings_.text(key); }
  Arg arg(uint32_t index) const {
    return {arg_key_[index] >> 3, {static_cast<ArgType>(arg_key_[index] & 7), arg_bits_[index]}};
  }
  // The last argument with that key in the range; nothing for kNone.
  std::optional<ArgValue> find(ArgRange range, KeyId key) const;
  // Of the slice itself, else of its label.
  std::optional<ArgValue> find(SliceId s, KeyId key) const {
    if (auto own = find(args(s), key)) return own;
    return find(label(s).args, key);
  }
  // Text of a text argument; empty for anything else.
  std::string_view text_of(const std::optional<ArgValue>& value) const {
    return value && value->type == ArgType::kText ? text(static_cast<StringId>(value->bits))
                                                  : std::string_view{};
  }
  Bytes bytes_of(const ArgValue& value) const {
    return value.type == ArgType::kBytes && value.bits < blobs_.size()
               ? as_bytes(blobs_[value.bits])
               : Bytes{};
  }
  std::string printed(const ArgValue& value) const;  // for people

  // --- tables ---
  std::string_view text(StringId id) const { return strings_.text(id); }
  size_t string_count() const { return strings_.size(); }
  StringId string_id(std::string_view text) const { return strings_.find(text); }
  const std::vector<Track>& tracks() const { return tracks_; }
  // The tracks whose parent it is, in their order.
  std::span<const TrackId> children(TrackId t) const {
    return {children_.data() + first_child_[t], children_.data() + first_child_[t + 1]};
  }
  const std::vector<Label>& labels() const { return labels_; }
  const std::vector<Flow>& flows() const { return flows_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::string_view track_name(TrackId t) const { return text(tracks_[t].name); }
  std::string_view shown_track_name(TrackId t) const {
    const Track& track = tracks_[t];
    return text(track.display_name == kNone ? track.name : track.display_name);
  }
  Picos point_time(uint32_t point) const { return {point_time_[point]}; }
  double point_value(uint32_t point) const { return point_value_[point]; }

  // --- the whole ---
  // What the file says about itself: (key, value) with values that are no text as JSON.
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  std::string_view metadata(std::string_view key) const;  // empty when absent
  std::string_view format() const { return format_; }  // id of the importer: "xplane", "kineto" …
  std::string_view host() const { return host_; }
  // Wall clock of time 0 in ns since 1970, when the producer recorded it.
  std::optional<int64_t> start_ns() const { return start_ns_; }
  Picos first_begin() const { return {first_begin_}; }
  Picos last_end() const { return {last_end_}; }
  size_t memory_bytes() const;

 private:
  friend class Builder;
  std::string format_, host_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::optional<int64_t> start_ns_;
  int64_t first_begin_ = 0, last_end_ = 0;
  StringTable strings_;
  std::vector<std::string> blobs_;
  std::vector<Track> tracks_;
  std::vector<uint32_t> first_child_{0};  // one more than tracks
  std::vector<TrackId> children_;
  std::vector<Label> labels_;
  std::vector<Flow> flows_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<int64_t> begin_, duration_;
  std::vector<LabelId> label_;
  std::vector<uint16_t> depth_;
  std::vector<uint32_t> first_arg_{0};  // one more than slices
  std::vector<uint32_t> arg_key_;       // key << 3 | ArgType
  std::vector<uint64_t> arg_bits_;
  std::vector<int64_t> point_time_;
  std::vector<double> point_value_;
};

// What one profiler wrote at one time: a trace for each host.
struct Host {
  std::string name;
  std::string file;
  uint64_t file_bytes = 0;
  std::shared_ptr<const Trace> trace;
};

struct Session {
  std::string name;
  std::vector<Host> hosts;
  std::vector<Diagnostic> diagnostics;  // files that could not be read
};

}  // namespace sonde::trace
