#include "log/query/series/points.h"

#include <algorithm>

namespace sonde::query {
namespace {

template <class T>
void append_as_double(const void* from, size_t count, std::vector<double>& out) {
  const T* values = static_cast<const T*>(from);
  const size_t at = out.size();
  out.resize(at + count);
  for (size_t i = 0; i < count; ++i) out[at + i] = static_cast<double>(values[i]);
}

void append(const store::ScalarBlock& block, Points& out) {
  out.steps.insert(out.steps.end(), block.steps.begin(), block.steps.end());
  out.walls.insert(out.walls.end(), block.wall_times.begin(), block.wall_times.end());
  switch (block.type) {
    case store::ValueType::kFloat32:
      return append_as_double<float>(block.values, block.size(), out.values);
    case store::ValueType::kFloat64:
      return append_as_double<double>(block.values, block.size(), out.values);
    case store::ValueType::kInt64:
      return append_as_double<int64_t>(block.values, block.size(), out.values);
    case store::ValueType::kUint64:
      return append_as_double<uint64_t>(block.values, block.size(), out.values);
    case store::ValueType::kBool:
      return append_as_double<uint8_t>(block.values, block.size(), out.values);
  }
}

}  // namespace

ViewReader::ViewReader(const store::Series& series, store::View view)
    : series_(series), ranges_(series.ranges(view)) {
  starts_.reserve(ranges_.size());
  for (const store::Range& range : ranges_) {
    starts_.push_back(size_);
    size_ += range.end - range.begin;
  }
}

void ViewReader::read(uint64_t begin, uint64_t end, Points& out) const {
  if (begin >= end) return;
  size_t at = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), begin) -
                                  starts_.begin() - 1);
  while (begin < end) {
    const store::Range& range = ranges_[at];
    const uint64_t from = range.begin + (begin - starts_[at]);
    const uint64_t to = std::min(range.end, from + (end - begin));
    series_.blocks({from, to}, [&](const store::ScalarBlock& block) { append(block, out); });
    begin += to - from;
    ++at;
  }
}

}  // namespace sonde::query
