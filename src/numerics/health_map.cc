#include "numerics/health_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sonde::numerics {
namespace {

constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();

// The steps that occur, thinned to `most`.
std::vector<int64_t> columns_of(const Data& data, size_t most) {
  constexpr size_t kMostDistinct = 100'000;
  std::set<uint32_t> distinct;
  uint32_t last = 0;
  for (const TraceRow& row : data.traces) {
    last = std::max(last, row.step);
    if (distinct.size() < kMostDistinct) distinct.insert(row.step);
  }
  std::vector<int64_t> steps;
  if (distinct.size() < kMostDistinct && distinct.size() <= most) {
    steps.assign(distinct.begin(), distinct.end());
  } else {
    for (size_t i = 0; i < most; ++i)
      steps.push_back(static_cast<int64_t>(uint64_t{last} * i / most));
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  }
  return steps;
}

size_t column_at(const std::vector<int64_t>& steps, uint32_t step) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), int64_t{step});
  return after == steps.begin() ? 0 : static_cast<size_t>(after - steps.begin()) - 1;
}

}  // namespace

HealthMap health_map(const Data& data, HealthOrder order, size_t from, size_t count,
                     size_t most_columns) {
  HealthMap map;
  map.steps = columns_of(data, most_columns);
  map.total_rows = data.traced.size();
  std::vector<HealthRow> all(data.traced.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = {i, -1, UINT64_MAX, {}};
  for (size_t i = 0; i < data.traces.size(); ++i) {
    const TraceRow& row = data.traces[i];
    HealthRow& at = all[row.traced];
    at.order = std::min<uint64_t>(at.order, i);
    if (row.bad == kNone) continue;
    const auto column = static_cast<int64_t>(column_at(map.steps, row.step));
    if (at.first_bad < 0 || column < at.first_bad) at.first_bad = column;
  }
  std::sort(all.begin(), all.end(), [&](const HealthRow& a, const HealthRow& b) {
    if (order == HealthOrder::kWentWrongFirst && a.first_bad != b.first_bad)
      return static_cast<uint64_t>(a.first_bad) < static_cast<uint64_t>(b.first_bad);
    return a.order < b.order;
  });
  from = std::min(from, all.size());
  const size_t end = std::min(all.size(), from + count);
  std::vector<uint32_t> place(data.traced.size(), UINT32_MAX);
  for (size_t i = from; i < end; ++i) {
    place[all[i].traced] = static_cast<uint32_t>(map.rows.size());
    map.rows.push_back(std::move(all[i]));
    map.rows.back().cells.assign(map.steps.size(), {kNoValue, kNoValue, kNone, false});
  }
  for (const TraceRow& row : data.traces) {
    if (place[row.traced] == UINT32_MAX) continue;
    HealthCell& cell = map.rows[place[row.traced]].cells[column_at(map.steps, row.step)];
    cell.is_there = true;
    cell.bad |= row.bad;
    if (std::isnan(cell.rms) || row.rms > cell.rms) cell.rms = row.rms;
    if (std::isnan(cell.zeros) || row.zeros > cell.zeros) cell.zeros = row.zeros;
  }
  return map;
}

}  // namespace sonde::numerics
