// One tag inside one file: what a loader appends to (Part) and what a snapshot shows of it
// (PartView). A series is its parts, one after the other in the order of the files, so files load
// beside each other and in pieces without anyone sorting anything.
//
// A chunk's memory is never moved and a loader writes only behind what was published: readers need
// no lock.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/event/tensor.h"
#include "log/model/memory.h"
#include "log/model/snapshot.h"

namespace sonde::store {

// Steps, wall times and values of some points, one column behind the other. Small, since a file of
// ten thousand tags has a hundred thousand of them.
struct Chunk {
  std::byte* columns = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;
  ValueType type = ValueType::kFloat32;

  Step* steps() const { return reinterpret_cast<Step*>(columns); }
  double* wall_times() const { return reinterpret_cast<double*>(columns + size_t{8} * capacity); }
  std::byte* values() const { return columns + size_t{16} * capacity; }
};

size_t width_of(ValueType type);

// Points before `position` with a step of at least `step` are superseded.
struct Cut {
  uint64_t position = 0;
  Step step = 0;
};

// Columns that stand in a file of ours and have not been compared with their checksums yet.
class UncheckedColumns {
 public:
  virtual ~UncheckedColumns() = default;
  // To be called before the columns of a chunk are read: compares them, or makes them again.
  // Thread-safe.
  virtual void check(const std::byte* columns) const = 0;
};

// Owns the columns and tags of one reading of a file; snapshots keep it alive. When a file is
// replaced a new one takes its place and this one's memory is used again.
class FileColumns {
 public:
  explicit FileColumns(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}
  ~FileColumns();
  FileColumns(const FileColumns&) = delete;
  FileColumns& operator=(const FileColumns&) = delete;

  Chunk take_chunk(Bump& bump, uint32_t capacity, ValueType type);
  // Takes over what another one owns (a piece of the same file).
  void absorb(FileColumns& other);
  std::string_view keep_tag(std::string_view tag);
  // Memory that chunks point into and somebody else owns (a mapped index).
  void keep(std::shared_ptr<const UncheckedColumns> other) { kept_ = std::move(other); }
  // Before the columns of a chunk are read.
  void check(const Chunk& chunk) const {
    if (kept_) kept_->check(chunk.columns);
  }
  Memory& memory() { return *memory_; }
  const std::shared_ptr<Memory>& shared_memory() const { return memory_; }

 private:
  std::shared_ptr<Memory> memory_;
  std::vector<std::pair<std::byte*, size_t>> columns_;
  std::deque<std::string> tags_;  // a deque never moves its elements
  std::shared_ptr<const UncheckedColumns> kept_;
};

// References of one part: grows by doubling; snapshots keep the array they saw.
class References {
 public:
  void push(const BlobPoint& point) {
    if (size_ == capacity_) grow(size_ + 1);
    array_[size_++] = point;
  }
  void append(const References& other);
  uint64_t size() const { return size_; }
  const BlobPoint* data() const { return array_.get(); }
  std::shared_ptr<const BlobPoint[]> share() const { return array_; }

 private:
  void grow(uint64_t at_least);
  std::shared_ptr<BlobPoint[]> array_;
  uint64_t size_ = 0, capacity_ = 0;
};

struct Part {
  std::string_view tag;                      // lives in FileColumns
  std::shared_ptr<const Metadata> metadata;  // null: no value of this tag has said what it is
  bool is_scalar = false;
  bool mixed = false;  // more than one value type
  ValueType type = ValueType::kFloat32;
  uint64_t closed_size = 0;  // numbers in all chunks but the last
  std::vector<Chunk> chunks;
  References references;
  std::vector<MistypedValue> strays;
  std::vector<Cut> cuts;    // files of an old version: a step that went back
  uint64_t unreadable = 0;  // numbers of types that TensorBoard cannot read
  // How many numbers the next chunk should have room for at least, as far as anybody can tell.
  uint32_t expected = 0;

  uint64_t numbers() const { return closed_size + (chunks.empty() ? 0 : chunks.back().size); }
  uint64_t size() const { return is_scalar ? numbers() : references.size(); }

  // The chunk that the next number of this type goes to; it has room.
  Chunk& room(FileColumns& columns, Bump& bump, ValueType wanted);
  void append(FileColumns& columns, Bump& bump, Step step, double wall_time, event::Number value);
  // Puts the points of the same tag from a later piece of the file behind these.
  void append(Part&& later);
};

struct PartView {
  std::shared_ptr<const FileColumns> keep;
  std::string_view tag;
  std::shared_ptr<const Metadata> metadata;  // may be null
  bool is_scalar = false, mixed = false;
  ValueType type = ValueType::kFloat32;
  uint64_t size = 0;
  std::vector<Chunk> chunks;
  std::shared_ptr<const BlobPoint[]> references;
  std::vector<MistypedValue> strays;
  std::vector<Cut> cuts;
  uint64_t unreadable = 0;
};

// Whether the view shows all of the part: parts only grow.
bool is_current(const PartView& view, const Part& part);
std::shared_ptr<const PartView> view_of(const Part& part, std::shared_ptr<const FileColumns> keep);

}  // namespace sonde::store
