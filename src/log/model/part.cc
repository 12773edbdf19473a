#include "log/model/part.h"

#include <algorithm>
#include <cstring>

namespace sonde::store {
namespace {

// Chunks of a quarter of what is there: at most a fifth of the memory is not yet used, and a
// series of ten million points has some 170 of them.
constexpr uint32_t kSmallest = 16, kLargest = 65536;

uint32_t rounded_up(uint32_t capacity) {
  return (capacity + kSmallest - 1) / kSmallest * kSmallest;
}

uint32_t next_capacity(uint64_t so_far) {
  return rounded_up(static_cast<uint32_t>(std::clamp<uint64_t>(so_far / 4, kSmallest, kLargest)));
}

}  // namespace

size_t width_of(ValueType type) {
  switch (type) {
    case ValueType::kFloat32:
      return 4;
    case ValueType::kBool:
      return 1;
    default:
      return 8;
  }
}

FileColumns::~FileColumns() {
  for (const auto& [column, bytes] : columns_) memory_->recycle(column, bytes);
}

Chunk FileColumns::take_chunk(Bump& bump, uint32_t capacity, ValueType type) {
  const size_t bytes = (capacity * (16 + width_of(type)) + 15) / 16 * 16;
  Chunk chunk;
  chunk.columns = bump.take(bytes);
  chunk.capacity = capacity;
  chunk.type = type;
  columns_.emplace_back(chunk.columns, bytes);
  return chunk;
}

void FileColumns::absorb(FileColumns& other) {
  columns_.insert(columns_.end(), other.columns_.begin(), other.columns_.end());
  other.columns_.clear();
}

std::string_view FileColumns::keep_tag(std::string_view tag) { return tags_.emplace_back(tag); }

void References::grow(uint64_t at_least) {
  capacity_ = std::max<uint64_t>({at_least, capacity_ * 2, 4});
  const std::shared_ptr<BlobPoint[]> larger(new BlobPoint[capacity_]);
  std::copy_n(array_.get(), size_, larger.get());
  array_ = larger;
}

void References::append(const References& other) {
  if (size_ + other.size_ > capacity_) grow(size_ + other.size_);
  std::copy_n(other.array_.get(), other.size_, array_.get() + size_);
  size_ += other.size_;
}

Chunk& Part::room(FileColumns& columns, Bump& bump, ValueType wanted) {
  if (!chunks.empty()) {
    Chunk& last = chunks.back();
    if (last.size < last.capacity && last.type == wanted) return last;
    closed_size += last.size;
    mixed = mixed || last.type != wanted;
  }
  type = wanted;
  const uint32_t capacity = std::max(next_capacity(closed_size), rounded_up(expected));
  expected = 0;
  return chunks.emplace_back(columns.take_chunk(bump, capacity, wanted));
}

void Part::append(FileColumns& columns, Bump& bump, Step step, double wall_time,
                  event::Number value) {
  Chunk& chunk = room(columns, bump, value.type);
  const uint32_t at = chunk.size;
  chunk.steps()[at] = step;
  chunk.wall_times()[at] = wall_time;
  const size_t width = width_of(value.type);
  if (value.type == ValueType::kBool) {
    chunk.values()[at] = static_cast<std::byte>(value.u64);
  } else {
    std::memcpy(chunk.values() + width * at, &value.u64, width);
  }
  chunk.size = at + 1;
}

void Part::append(Part&& later) {
  const uint64_t before = size();
  if (!metadata) metadata = std::move(later.metadata);
  for (MistypedValue stray : later.strays) {
    stray.position += before;
    strays.push_back(stray);
  }
  for (Cut cut : later.cuts) {
    cut.position += before;
    cuts.push_back(cut);
  }
  if (!later.chunks.empty()) {
    mixed = mixed || later.mixed || (!chunks.empty() && type != later.type);
    type = later.type;
    closed_size = before + later.closed_size;
    chunks.insert(chunks.end(), later.chunks.begin(), later.chunks.end());
  }
  references.append(later.references);
  unreadable += later.unreadable;
}

bool is_current(const PartView& view, const Part& part) {
  return view.size == part.size() && view.strays.size() == part.strays.size() &&
         view.metadata == part.metadata && view.cuts.size() == part.cuts.size();
}

std::shared_ptr<const PartView> view_of(const Part& part, std::shared_ptr<const FileColumns> keep) {
  auto view = std::make_shared<PartView>();
  view->keep = std::move(keep);
  view->tag = part.tag;
  view->metadata = part.metadata;
  view->is_scalar = part.is_scalar;
  view->mixed = part.mixed;
  view->type = part.type;
  view->size = part.size();
  view->chunks = part.chunks;
  view->references = part.references.share();
  view->strays = part.strays;
  view->cuts = part.cuts;
  view->unreadable = part.unreadable;
  return view;
}

}  // namespace sonde::store
