// What readers of the store see: an immutable picture of every run, taken without waiting for
// anyone. A request takes one Snapshot and answers from it; loaders publish new ones beside it.
// Sharing is per run: publishing one new point copies one RunSnapshot's list of series, nothing
// else.
//
// Nothing is thrown away: a scalar series holds every point as columns, everything else holds
// references (file, offset, length) that BlobReader turns into bytes when asked. Restarts hide
// points from the default view but never delete them: a view is a list of index ranges over arrival
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "log/event/metadata.h"
#include "log/event/tensor.h"

namespace sonde::store {

enum class RunId : uint32_t {};   // valid within one process
enum class FileId : uint32_t {};  // index into Snapshot::files

using event::DataClass;  // how TensorBoard classes a series; decided by the tag's first metadata
using event::Metadata;   // the first metadata of a tag wins; migration has already happened

// What a value was written as; a scalar series that mixes types is widened to kFloat64.
using ValueType = event::NumberType;

// Where the bytes of one value are: the record's payload in its file and which Summary.Value in it.
// event/value.h turns the payload and `value` into a view; event/blob.h and tensor.h decode it.
struct Reference {
  uint64_t offset = 0;  // of the payload's first byte (in the inflated stream of a compressed file)
  uint64_t length = 0;  // of the payload
  FileId file{};
  uint32_t value = 0;  // index of the value inside the event's summary
};

struct BlobPoint {
  Step step = 0;
  double wall_time = 0;
  Reference where;
};

// A point of a scalar series that is no number (the tag changed kind): kept, but not a column.
struct MistypedValue {
  BlobPoint point;
  uint64_t position = 0;  // how many of the series' numbers come before it
};

struct Range {  // [begin, end) in arrival order
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A contiguous piece of a scalar series. `values` points to float, double, int64_t, uint64_t or
// uint8_t (bool), as this block's own type says; it differs between blocks of a mixed series.
struct ScalarBlock {
  std::span<const Step> steps;
  std::span<const double> wall_times;
  const void* values = nullptr;
  ValueType type = ValueType::kFloat32;

  double value(size_t i) const;  // widened to double
  size_t size() const { return steps.size(); }
};

enum class View : uint8_t {
  kNewest,  // what a user expects after a restart: superseded points are hidden (ARCHITECTURE.md,
            // Restarts)
  kAll,     // every point in arrival order
};

// One (run, tag). Immutable; cheap to copy a pointer to.
class Series {
 public:
  virtual ~Series() = default;

  const std::string& tag() const { return tag_; }
  const Metadata& metadata() const { return *metadata_; }
  bool is_scalar() const { return is_scalar_; }  // columns; otherwise references
  ValueType value_type() const { return value_type_; }
  uint64_t size() const { return size_; }  // all points, hidden ones too
  uint64_t revision() const {
    return revision_;
  }  // Snapshot revision that last changed this series

  // Changes when points that were there before have moved or gone (a file before the last one grew,
  // was replaced, a restart hid something): a client that holds the first n points may ask for the
  // rest only while it stays the same.
  uint64_t layout() const { return layout_; }

  // Index ranges that make up a view, ascending and disjoint.
  std::span<const Range> ranges(View view) const;
  uint64_t size(View view) const;

  // Scalars: calls fn with the blocks of [range.begin, range.end) in order.
  virtual void blocks(Range range, const std::function<void(const ScalarBlock&)>& fn) const = 0;
  // Everything else: the points of a range.
  virtual std::span<const BlobPoint> points(Range range) const = 0;
  // How many of the numbers have a type that TensorBoard's reader refuses (bfloat16, uint32 ...).
  virtual uint64_t unreadable() const = 0;
  // Scalars: points of the series that are no numbers, in arrival order; almost always empty.
  std::span<const MistypedValue> strays() const { return strays_; }

 protected:
  std::string tag_;
  std::shared_ptr<const Metadata> metadata_;  // never null
  bool is_scalar_ = false;
  ValueType value_type_ = ValueType::kFloat32;
  uint64_t size_ = 0;
  uint64_t revision_ = 0;
  uint64_t layout_ = 0;
  std::vector<Range> newest_;  // see has_hidden_
  bool has_hidden_ = false;    // false: newest_ is unused and the view is everything
  Range all_;
  std::vector<MistypedValue> strays_;
};

enum class Severity : uint8_t { kNote, kLoss };  // kLoss: data that was written is not shown

// One damaged place. Counted where it happened, shown to the user, never stops the rest.
struct Damage {
  FileId file{};
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string kind;  // stable word: "payload_crc", "length_crc", "bad_event", "torn_tail",
                     // "huge_length" ...
  Severity severity = Severity::kLoss;
  std::string text;    // what is wrong, in a sentence
  std::string advice;  // what to do about it, in a sentence
};

struct FileState {
  std::string path;  // absolute
  std::string name;  // relative to the run
  RunId run{};
  uint64_t size_bytes = 0;
  uint64_t read_bytes = 0;
  uint64_t records = 0;
  uint64_t damaged = 0;
  std::string state;  // "complete", "waiting" (torn tail), "gone", "unreadable", "loading"
};

struct RunSnapshot {
  RunId id{};
  std::string name;    // "." for the log directory itself
  std::string folder;  // absolute path of the run's directory
  double first_wall_time =
      0;  // of the first event read (lexicographically first file); NaN when none
  double min_wall_time = 0;  // over all events; NaN when none
  double last_wall_time = 0;
  uint64_t points = 0;
  uint64_t bytes = 0;
  uint32_t segments = 1;  // restarts + 1
  uint64_t revision = 0;
  bool has_events = false;
  std::vector<std::shared_ptr<const Series>> series;  // order of first appearance
  std::vector<FileId> files;                          // in name order
  std::vector<Damage> damage;          // at most 100 a file; FileState::damaged counts all
  std::vector<BlobPoint> meta_graphs;  // meta_graph_def events: a graph when there is no other

  const Series* find(std::string_view tag) const;  // nullptr when the run has no such tag
  std::shared_ptr<const void> index;               // how find() is quick; private to the store
};

struct LoadProgress {
  uint64_t files = 0, files_done = 0, bytes = 0, bytes_done = 0, points = 0;
  bool loading = false;  // the first pass over the log directory is not finished
};

struct Snapshot {
  uint64_t revision = 0;
  std::vector<std::shared_ptr<const RunSnapshot>>
      runs;  // order of (first wall time, name); runs without events last
  std::vector<std::shared_ptr<const FileState>> files;  // by FileId
  LoadProgress progress;

  const RunSnapshot* find(std::string_view run) const;
  const RunSnapshot* find(RunId id) const;
  std::shared_ptr<const void> index;  // how find() is quick; private to the store
};

// Reads what a Reference points to. Thread-safe; the checksum is verified before bytes are handed
// out.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // The whole event payload.
  virtual Result<std::string> event(const Reference& where) const = 0;
  // At most `limit` first bytes of the payload, unchecked: enough for headers and sizes of images.
  virtual Result<std::string> head(const Reference& where, uint64_t limit) const = 0;

  // For many payloads in a row, by one thread: a file stays open from one to the next.
  class Sequence {
   public:
    virtual ~Sequence() = default;
    virtual Result<std::string> event(const Reference& where) = 0;
  };
  virtual std::unique_ptr<Sequence> sequence() const;
};

inline std::unique_ptr<BlobReader::Sequence> BlobReader::sequence() const {
  struct OneByOne final : Sequence {
    explicit OneByOne(const BlobReader& reader) : reader_(reader) {}
    Result<std::string> event(const Reference& where) override { return reader_.event(where); }
    const BlobReader& reader_;
  };
  return std::make_unique<OneByOne>(*this);
}

}  // namespace sonde::store
