#include "log/store/series.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "log/store/run_index.h"

namespace sonde::store {

PartSeries::PartSeries(Making making) : parts_(std::move(making.parts)) {
  metadata_ = making.metadata ? std::move(making.metadata) : std::make_shared<const Metadata>();
  cuts_ = std::move(making.cuts);
  revision_ = making.revision;
  layout_ = making.layout;
  tag_ = parts_.front()->tag;
  is_scalar_ = parts_.front()->is_scalar;
  bool mixed = false, typed = false;
  for (const auto& part : parts_) {
    for (MistypedValue stray : part->strays) {
      stray.position += size_;
      strays_.push_back(stray);
    }
    size_ += part->size;
    unreadable_ += part->unreadable;
    if (part->chunks.empty()) continue;
    mixed = mixed || part->mixed || (typed && value_type_ != part->type);
    value_type_ = part->type;
    typed = true;
  }
  if (mixed) value_type_ = ValueType::kFloat64;
  all_ = {0, size_};
  if (!is_scalar_) {
    if (parts_.size() == 1) {
      references_ = parts_.front()->references.get();
    } else {
      joined_.reserve(size_);
      for (const auto& part : parts_)
        joined_.insert(joined_.end(), part->references.get(), part->references.get() + part->size);
      references_ = joined_.data();
    }
  }
  if (!cuts_.empty()) hide_superseded();
}

template <class Fn>
void PartSeries::each_step(Fn&& fn) const {
  if (!is_scalar_) {
    for (uint64_t i = 0; i < size_; ++i) fn(i, references_[i].step);
    return;
  }
  uint64_t i = 0;
  for (const auto& part : parts_) {
    for (const Chunk& chunk : part->chunks) {
      part->keep->check(chunk);
      for (uint32_t k = 0; k < chunk.size; ++k) fn(i++, chunk.steps()[k]);
    }
  }
}

// A point is hidden when some cut behind it has a step that is not above the point's own.
void PartSeries::hide_superseded() {
  // lowest[k]: the smallest step of the cuts k, k+1, ...
  std::vector<Step> lowest(cuts_.size() + 1, std::numeric_limits<Step>::max());
  for (size_t k = cuts_.size(); k-- > 0;) lowest[k] = std::min(lowest[k + 1], cuts_[k].step);
  size_t next = 0;  // the first cut behind the point
  uint64_t hidden = 0;
  Range open{0, 0};
  each_step([&](uint64_t i, Step step) {
    while (next < cuts_.size() && cuts_[next].position <= i) ++next;
    if (next < cuts_.size() && step >= lowest[next]) {
      ++hidden;
      return;
    }
    if (open.end == i) {
      ++open.end;
    } else {
      if (open.begin < open.end) newest_.push_back(open);
      open = {i, i + 1};
    }
  });
  if (open.begin < open.end) newest_.push_back(open);
  has_hidden_ = hidden > 0;
  if (!has_hidden_) newest_.clear();
}

void PartSeries::blocks(Range range, const std::function<void(const ScalarBlock&)>& fn) const {
  uint64_t begin = 0;  // of the chunk, counted over the series
  for (const auto& part : parts_) {
    if (begin >= range.end) return;
    if (begin + part->size <= range.begin) {
      begin += part->size;
      continue;
    }
    for (const Chunk& chunk : part->chunks) {
      const uint64_t from = std::max(range.begin, begin),
                     to = std::min(range.end, begin + chunk.size);
      if (from < to) {
        part->keep->check(chunk);
        const size_t skip = static_cast<size_t>(from - begin), n = static_cast<size_t>(to - from);
        fn({.steps = {chunk.steps() + skip, n},
            .wall_times = {chunk.wall_times() + skip, n},
            .values = chunk.values() + skip * width_of(chunk.type),
            .type = chunk.type});
      }
      begin += chunk.size;
    }
  }
}

std::span<const BlobPoint> PartSeries::points(Range range) const {
  if (is_scalar_) return {};
  const uint64_t end = std::min(range.end, size_), begin = std::min(range.begin, end);
  return {references_ + begin, static_cast<size_t>(end - begin)};
}

double ScalarBlock::value(size_t i) const {
  switch (type) {
    case ValueType::kFloat32:
      return static_cast<double>(static_cast<const float*>(values)[i]);
    case ValueType::kFloat64:
      return static_cast<const double*>(values)[i];
    case ValueType::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(values)[i]);
    case ValueType::kUint64:
      return static_cast<double>(static_cast<const uint64_t*>(values)[i]);
    case ValueType::kBool:
      return static_cast<const uint8_t*>(values)[i];
  }
  return 0;
}

std::span<const Range> Series::ranges(View view) const {
  if (size_ == 0) return {};
  if (view == View::kAll || !has_hidden_) return {&all_, 1};
  return newest_;
}

uint64_t Series::size(View view) const {
  uint64_t total = 0;
  for (const Range& range : ranges(view)) total += range.end - range.begin;
  return total;
}

const Series* RunSnapshot::find(std::string_view tag) const {
  if (!index) return nullptr;
  const auto& by_tag = *static_cast<const NameIndex*>(index.get());
  const auto found = by_tag.find(tag);
  return found == by_tag.end() ? nullptr : series[found->second].get();
}

const RunSnapshot* Snapshot::find(std::string_view run) const {
  if (!index) return nullptr;
  const auto& names = static_cast<const SnapshotIndex*>(index.get())->by_name;
  const auto found = names.find(run);
  return found == names.end() ? nullptr : runs[found->second].get();
}

const RunSnapshot* Snapshot::find(RunId id) const {
  if (!index) return nullptr;
  const auto& ids = static_cast<const SnapshotIndex*>(index.get())->by_id;
  const auto found = ids.find(static_cast<uint32_t>(id));
  return found == ids.end() ? nullptr : runs[found->second].get();
}

}  // namespace sonde::store
