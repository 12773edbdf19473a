#include "log/query/media/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace sonde::query {
namespace {

using store::ScalarBlock;
using store::Series;
using store::ValueType;
using store::View;

ScalarPoint point_of(const ScalarBlock& block, size_t i) {
  ScalarPoint point;
  point.step = block.steps[i];
  point.wall_time = block.wall_times[i];
  point.type = block.type;
  switch (block.type) {
    case ValueType::kFloat32:
      point.value = static_cast<const float*>(block.values)[i];
      break;
    case ValueType::kFloat64:
      point.value = static_cast<const double*>(block.values)[i];
      break;
    case ValueType::kInt64: {
      const int64_t value = static_cast<const int64_t*>(block.values)[i];
      point.integer = static_cast<uint64_t>(value);
      point.value = static_cast<double>(value);
      break;
    }
    case ValueType::kUint64:
      point.integer = static_cast<const uint64_t*>(block.values)[i];
      point.value = static_cast<double>(point.integer);
      break;
    case ValueType::kBool:
      point.integer = static_cast<const uint8_t*>(block.values)[i] != 0;
      point.value = static_cast<double>(point.integer);
      break;
  }
  return point;
}

void for_each_block(const Series& series, const std::function<void(const ScalarBlock&)>& fn) {
  for (const store::Range& range : series.ranges(View::kNewest)) series.blocks(range, fn);
}

// One stretch of a long series: its extremes and where they are.
class Stretch {
 public:
  explicit Stretch(const std::function<void(const ScalarPoint&)>& fn) : fn_(fn) {}

  void add(const ScalarBlock& block, size_t i, uint64_t position) {
    const double value = block.value(i);
    if (std::isnan(value)) {
      if (!nan_.is_set) set(nan_, block, i, position);
    } else {
      if (!low_.is_set || value < low_.point.value) set(low_, block, i, position);
      if (!high_.is_set || value > high_.point.value) set(high_, block, i, position);
    }
  }

  void finish() {
    Kept* kept[] = {&low_, &high_, &nan_};
    std::sort(std::begin(kept), std::end(kept),
              [](const Kept* a, const Kept* b) { return a->position < b->position; });
    uint64_t last = UINT64_MAX;
    for (Kept* one : kept) {
      if (one->is_set && one->position != last) fn_(one->point);
      if (one->is_set) last = one->position;
      one->is_set = false;
    }
  }

 private:
  struct Kept {
    ScalarPoint point;
    uint64_t position = 0;
    bool is_set = false;
  };
  static void set(Kept& kept, const ScalarBlock& block, size_t i, uint64_t position) {
    kept = {point_of(block, i), position, true};
  }

  const std::function<void(const ScalarPoint&)>& fn_;
  Kept low_, high_, nan_;
};

bool has_nan(const Series& series) {
  bool found = false;
  for_each_block(series, [&](const ScalarBlock& block) {
    if (block.type != ValueType::kFloat32 && block.type != ValueType::kFloat64) return;
    for (size_t i = 0; i < block.size() && !found; ++i) found = std::isnan(block.value(i));
  });
  return found;
}

}  // namespace

Result<SampleLimits> SampleLimits::parse(std::string_view text) {
  SampleLimits limits;
  if (trimmed(text).empty()) return limits;
  for (const std::string_view part : split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string_view name = trimmed(part.substr(0, equals));
    const std::string_view digits =
        equals == std::string_view::npos ? std::string_view{} : trimmed(part.substr(equals + 1));
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (name.empty() || digits.empty() || error != std::errc() ||
        end != digits.data() + digits.size()) {
      return fail(Code::kInvalid,
                  "samples_per_plugin: '" + std::string(part) +
                      "' is not of the form plugin=number, as in scalars=500,images=0");
    }
    limits.limits_[std::string(name)] = number == 0 ? kAllSamples : number;
  }
  return limits;
}

uint64_t SampleLimits::of(std::string_view plugin, uint64_t otherwise) const {
  const auto found = limits_.find(plugin);
  return found == limits_.end() ? otherwise : found->second;
}

void for_each_scalar(const Series& series, uint64_t limit,
                     const std::function<void(const ScalarPoint&)>& fn) {
  const uint64_t count = series.size(View::kNewest);
  if (count <= limit) {
    for_each_block(series, [&](const ScalarBlock& block) {
      for (size_t i = 0; i < block.size(); ++i) fn(point_of(block, i));
    });
    return;
  }
  const uint64_t each = has_nan(series) ? 3 : 2;
  const uint64_t stretches = limit > 2 ? (limit - 2) / each : 0;
  const uint64_t inner = count - 2;
  // Stretch k holds the inner positions [k * inner / stretches, (k + 1) * inner / stretches).
  const auto end_of = [&](uint64_t k) {
    return static_cast<uint64_t>(static_cast<__uint128_t>(k + 1) * inner / stretches);
  };
  Stretch stretch(fn);
  uint64_t position = 0, current = 0;
  uint64_t end = stretches > 0 ? end_of(0) : 0;
  for_each_block(series, [&](const ScalarBlock& block) {
    for (size_t i = 0; i < block.size(); ++i, ++position) {
      const bool is_end = position == 0 || position + 1 == count;
      if (is_end) {
        if (position > 0) stretch.finish();
        if (position > 0 || limit > 1) fn(point_of(block, i));
      } else if (stretches > 0) {
        if (position - 1 >= end) {
          stretch.finish();
          end = end_of(++current);
        }
        stretch.add(block, i, position);
      }
    }
  });
}

bool last_scalar(const Series& series, ScalarPoint& point) {
  const auto ranges = series.ranges(View::kNewest);
  for (size_t k = ranges.size(); k-- > 0;) {
    if (ranges[k].begin == ranges[k].end) continue;
    series.blocks({ranges[k].end - 1, ranges[k].end}, [&](const ScalarBlock& block) {
      if (block.size() > 0) point = point_of(block, block.size() - 1);
    });
    return true;
  }
  return false;
}

std::vector<uint64_t> even_positions(uint64_t count, uint64_t limit) {
  std::vector<uint64_t> positions;
  if (count == 0 || limit == 0) return positions;
  const uint64_t kept = std::min(count, limit);
  positions.reserve(kept);
  if (kept == 1) return {count - 1};
  for (uint64_t i = 0; i < kept; ++i) {
    positions.push_back(
        static_cast<uint64_t>(static_cast<__uint128_t>(i) * (count - 1) / (kept - 1)));
  }
  return positions;
}

std::vector<store::BlobPoint> blob_points(const Series& series, uint64_t limit) {
  std::vector<store::BlobPoint> all;
  all.reserve(series.size(View::kNewest));
  for (const store::Range& range : series.ranges(View::kNewest)) {
    const auto points = series.points(range);
    all.insert(all.end(), points.begin(), points.end());
  }
  if (all.size() <= limit) return all;
  std::vector<store::BlobPoint> kept;
  for (const uint64_t position : even_positions(all.size(), limit)) kept.push_back(all[position]);
  return kept;
}

std::vector<store::BlobPoint> blob_points_by_step(const Series& series, uint64_t limit) {
  std::vector<store::BlobPoint> points = blob_points(series);
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  points.erase(std::unique(points.begin(), points.end(),
                           [](const auto& a, const auto& b) { return a.step == b.step; }),
               points.end());
  if (points.size() <= limit) return points;
  std::vector<store::BlobPoint> kept;
  for (const uint64_t position : even_positions(points.size(), limit))
    kept.push_back(points[position]);
  return kept;
}

}  // namespace sonde::query
