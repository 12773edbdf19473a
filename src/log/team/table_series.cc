#include "log/team/table_series.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "log/model/part.h"

namespace sonde::team {

TableSeries::TableSeries(SeriesRow row, std::vector<store::MistypedValue> mistyped,
                         PointCache& cache, Blobs blobs, uint64_t revision)
    : row_(std::move(row)), cache_(cache), blobs_(std::move(blobs)) {
  tag_ = row_.tag;
  metadata_ = std::make_shared<const store::Metadata>(row_.metadata);
  is_scalar_ = row_.is_scalar;
  value_type_ = row_.type;
  size_ = row_.points;
  revision_ = revision;
  layout_ = row_.layout;
  all_ = {0, size_};
  strays_ = std::move(mistyped);
}

void TableSeries::blocks(store::Range range,
                         const std::function<void(const store::ScalarBlock&)>& fn) const {
  range.end = std::min(range.end, size_);
  if (range.begin >= range.end) return;
  const auto give = [&](const Columns& columns, uint64_t from, uint64_t to) {
    const auto n = static_cast<size_t>(to - from);
    fn({.steps = {columns.steps.data() + from, n},
        .wall_times = {columns.wall_times.data() + from, n},
        .values = columns.values.data() + from * store::width_of(columns.type),
        .type = columns.type});
  };
  // Lists of runs and tags look at the ends only.
  if (range.end == range.begin + 1 && (range.begin == 0 || range.end == size_)) {
    Columns one{row_.layout, row_.type, {}, {}, {}};
    one.append(range.begin == 0 ? row_.first : row_.last);
    return give(one, 0, 1);
  }
  if (const auto columns = cache_.get(row_)) return give(*columns, range.begin, range.end);
  Columns nothing{row_.layout, store::ValueType::kFloat64, {}, {}, {}};
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (uint64_t i = range.begin; i < range.end; ++i) nothing.append({0, kNone, kNone});
  give(nothing, 0, nothing.size());
}

std::span<const store::BlobPoint> TableSeries::points(store::Range range) const {
  if (is_scalar_) return {};
  const std::lock_guard lock(mutex_);
  if (!has_references_) {
    auto asked = blobs_(row_);
    has_references_ = asked.has_value();
    if (!asked) cache_.note_failure(asked.error());
    // No file has this number: a reader of such a reference is told that the file was removed.
    const store::BlobPoint missing{0, 0, {0, 0, static_cast<store::FileId>(UINT32_MAX), 0}};
    references_.push_back(asked ? std::move(*asked)
                                : std::vector<store::BlobPoint>(size_, missing));
  }
  const uint64_t end = std::min(range.end, size_), begin = std::min(range.begin, end);
  return std::span(references_.back()).subspan(begin, end - begin);
}

}  // namespace sonde::team
