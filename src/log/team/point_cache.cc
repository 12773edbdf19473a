#include "log/team/point_cache.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/log.h"

namespace sonde::team {
namespace {

constexpr size_t kMostRuns = 500;                    // in one request
constexpr uint64_t kMostPoints = uint64_t{4} << 20;  // in one request: about 150 MB

std::string key_of(const SeriesRow& row) { return row.run + '\0' + row.tag; }

template <class T>
void put_value(std::vector<std::byte>& values, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  values.insert(values.end(), bytes, bytes + sizeof value);
}

// Numbers that a type cannot hold become the nearest it can: the cast alone would be undefined.
template <class T>
T clamped(double value) {
  if (!(value > static_cast<double>(std::numeric_limits<T>::min())))
    return std::numeric_limits<T>::min();
  if (!(value < static_cast<double>(std::numeric_limits<T>::max())))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace

void Columns::append(const EndPoint& point) {
  steps.push_back(point.step);
  wall_times.push_back(point.wall_time);
  switch (type) {
    case store::ValueType::kFloat32:
      return put_value(values, static_cast<float>(point.value));
    case store::ValueType::kFloat64:
      return put_value(values, point.value);
    case store::ValueType::kInt64:
      return put_value(values, clamped<int64_t>(point.value));
    case store::ValueType::kUint64:
      return put_value(values, clamped<uint64_t>(point.value));
    case store::ValueType::kBool:
      return put_value(values, static_cast<uint8_t>(point.value != 0));
  }
}

std::shared_ptr<const Columns> PointCache::find(const SeriesRow& row) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key_of(row));
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  const auto& columns = found->second->columns;
  return columns->layout == row.layout && columns->type == row.type ? columns : nullptr;
}

void PointCache::keep(const SeriesRow& row, std::shared_ptr<const Columns> columns) {
  const std::lock_guard lock(mutex_);
  std::string key = key_of(row);
  const auto drop = [&](std::list<Entry>::iterator at) {
    bytes_ -= at->columns->bytes();
    by_key_.erase(at->key);
    entries_.erase(at);
  };
  if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
  bytes_ += columns->bytes();
  entries_.push_front({key, std::move(columns)});
  by_key_.emplace(std::move(key), entries_.begin());
  while (bytes_ > budget_ && entries_.size() > 1) drop(std::prev(entries_.end()));
}

// All rows have the tag; those of which nothing is known are asked for together.
Result<void> PointCache::fetch(std::string_view tag, const std::vector<const SeriesRow*>& rows) {
  std::vector<std::string_view> runs;
  std::map<std::string_view, std::pair<const SeriesRow*, std::shared_ptr<Columns>>> wanted;
  uint64_t from = UINT64_MAX, to = 0;
  for (const SeriesRow* row : rows) {
    const auto before = find(*row);
    auto columns = before ? std::make_shared<Columns>(*before)
                          : std::make_shared<Columns>(Columns{row->layout, row->type, {}, {}, {}});
    if (columns->size() >= row->points) continue;
    from = std::min<uint64_t>(from, columns->size());
    to = std::max(to, row->points);
    runs.push_back(row->run);
    wanted[row->run] = {row, std::move(columns)};
  }
  if (runs.empty()) return {};
  if (auto asked = tables_.points(tag, runs, from, to,
                                  [&](std::string_view run, uint64_t n, const EndPoint& point) {
                                    const auto& [row, columns] = wanted[run];
                                    // What stands behind the end is of a push under way.
                                    if (n == columns->size() && n < row->points)
                                      columns->append(point);
                                  });
      !asked)
    return asked;
  for (auto& [run, one] : wanted) {
    auto& [row, columns] = one;
    if (columns->size() < row->points)
      return fail(Code::kCorrupt, "ClickHouse lacks points of run '" + row->run + "', tag '" +
                                      row->tag + "'; push the logs again");
    keep(*row, std::move(columns));
  }
  return {};
}

std::shared_ptr<const Columns> PointCache::get(const SeriesRow& row) {
  if (auto columns = find(row); columns && columns->size() >= row.points) return columns;
  if (const auto fetched = fetch(row.tag, {&row}); !fetched) {
    note_failure(fetched.error());
    return nullptr;
  }
  return find(row);
}

void PointCache::prepare(const std::vector<const SeriesRow*>& rows) {
  std::map<std::string_view, std::vector<const SeriesRow*>> by_tag;
  for (const SeriesRow* row : rows) {
    const auto columns = find(*row);
    if (!columns || columns->size() < row->points) by_tag[row->tag].push_back(row);
  }
  for (const auto& [tag, missing] : by_tag) {
    std::vector<const SeriesRow*> some;
    uint64_t points = 0;
    const auto send = [&] {
      if (const auto fetched = fetch(tag, some); !fetched) note_failure(fetched.error());
      some.clear();
      points = 0;
    };
    for (const SeriesRow* row : missing) {
      if (!some.empty() && (some.size() == kMostRuns || points + row->points > kMostPoints)) send();
      some.push_back(row);
      points += row->points;
    }
    if (!some.empty()) send();
  }
}

void PointCache::note_failure(const Error& error) {
  ++failures_;
  const std::lock_guard lock(mutex_);
  if (last_failure_ != error.text) log::warn("{}", error.text);
  last_failure_ = error.text;
}

std::string PointCache::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

}  // namespace sonde::team
