#include "numerics/health_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>

namespace sonde::numerics {
namespace {

constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();

using Parts = std::span<const Data* const>;

// The steps that occur, thinned to `most`.
std::vector<int64_t> columns_of(Parts parts, size_t most) {
  constexpr size_t kMostDistinct = 100'000;
  std::set<uint32_t> distinct;
  uint32_t last = 0;
  for (const Data* data : parts) {
    for (const TraceRow& row : data->traces) {
      last = std::max(last, row.step);
      if (distinct.size() < kMostDistinct) distinct.insert(row.step);
    }
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

void take_larger(float& into, float value) {
  if (std::isnan(into) || value > into) into = value;
}

// All tensors of all parts, and which of them each part's own are.
struct Alignment {
  std::vector<HealthRow> rows;
  std::vector<std::vector<uint32_t>> row_of;  // by part and traced
};

Alignment aligned(Parts parts) {
  Alignment all;
  std::unordered_map<std::string, uint32_t> by_name;
  for (size_t part = 0; part < parts.size(); ++part) {
    const Data& data = *parts[part];
    auto& row_of = all.row_of.emplace_back(data.traced.size());
    for (uint32_t i = 0; i < data.traced.size(); ++i) {
      const auto next = static_cast<uint32_t>(all.rows.size());
      // One recording alone needs no names.
      row_of[i] = parts.size() == 1
                      ? next
                      : by_name.emplace(lasting_name(data, data.traced[i]), next).first->second;
      if (row_of[i] == next) all.rows.push_back({part, i, -1, UINT64_MAX, {}});
    }
  }
  return all;
}

// A gradient is as early as what it is the gradient of; being later in the list it comes below.
void put_gradients_below(Parts parts, std::vector<HealthRow>& rows) {
  constexpr std::string_view kGradient = "/grad";
  std::unordered_map<std::string_view, uint64_t> order;
  const auto name = [&](const HealthRow& row) {
    const Data& data = *parts[row.part];
    return data.texts.text(data.traced[row.traced].op_name);
  };
  for (const HealthRow& row : rows) {
    const auto [known, is_new] = order.emplace(name(row), row.order);
    if (!is_new) known->second = std::min(known->second, row.order);
  }
  for (HealthRow& row : rows) {
    std::string_view own = name(row);
    if (!own.ends_with(kGradient)) continue;
    own.remove_suffix(kGradient.size());
    if (const auto output = order.find(own); output != order.end()) row.order = output->second;
  }
}

}  // namespace

std::string lasting_name(const Data& data, const Traced& traced) {
  const Graph* graph = data.graph(data.texts.text(traced.context));
  std::string name = graph ? graph->name : std::string();
  name.append(1, '\n').append(data.texts.text(traced.op_name)).append(1, '\n');
  return name.append(std::to_string(traced.slot))
      .append(1, '\n')
      .append(std::to_string(traced.file));
}

HealthMap health_map(Parts parts, HealthOrder order, size_t from, size_t count,
                     size_t most_columns) {
  HealthMap map;
  map.steps = columns_of(parts, most_columns);
  auto [all, row_of] = aligned(parts);
  map.total_rows = all.size();
  for (size_t part = 0; part < parts.size(); ++part) {
    const Data& data = *parts[part];
    for (size_t i = 0; i < data.traces.size(); ++i) {
      const TraceRow& row = data.traces[i];
      HealthRow& at = all[row_of[part][row.traced]];
      at.order = std::min<uint64_t>(at.order, i);
      if (row.bad == kNone) continue;
      const auto column = static_cast<int64_t>(column_at(map.steps, row.step));
      if (at.first_bad < 0 || column < at.first_bad) at.first_bad = column;
    }
  }
  if (order == HealthOrder::kModule) put_gradients_below(parts, all);
  std::vector<uint32_t> sorted(all.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t left, uint32_t right) {
    const HealthRow &a = all[left], &b = all[right];
    if (order == HealthOrder::kWentWrongFirst && a.first_bad != b.first_bad)
      return static_cast<uint64_t>(a.first_bad) < static_cast<uint64_t>(b.first_bad);
    return std::pair(a.order, left) < std::pair(b.order, right);
  });
  from = std::min(from, all.size());
  const size_t end = std::min(all.size(), from + count);
  constexpr uint32_t kNotShown = UINT32_MAX;
  std::vector<uint32_t> place(all.size(), kNotShown);
  for (size_t i = from; i < end; ++i) {
    place[sorted[i]] = static_cast<uint32_t>(map.rows.size());
    map.rows.push_back(std::move(all[sorted[i]]));
    map.rows.back().cells.resize(parts.size());
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    for (const TraceRow& row : parts[part]->traces) {
      const uint32_t shown = place[row_of[part][row.traced]];
      if (shown == kNotShown) continue;
      auto& cells = map.rows[shown].cells[part];
      if (cells.empty())
        cells.assign(map.steps.size(), {kNoValue, kNoValue, kNoValue, kNoValue, kNone, false});
      HealthCell& cell = cells[column_at(map.steps, row.step)];
      cell.is_there = true;
      cell.bad |= row.bad;
      take_larger(cell.rms, row.rms);
      take_larger(cell.zeros, row.zeros);
      take_larger(cell.wrong, row.wrong);
      take_larger(cell.saturated, row.saturated);
    }
  }
  return map;
}

}  // namespace sonde::numerics
