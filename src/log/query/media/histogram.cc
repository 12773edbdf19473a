#include "log/query/media/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

bool usable(const Bucket& bucket) {
  return std::isfinite(bucket.left) && std::isfinite(bucket.right) && std::isfinite(bucket.count) &&
         bucket.count > 0 && bucket.right >= bucket.left;
}

}  // namespace

Interval common_range(std::span<const std::vector<Bucket>> histograms) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Interval range{kInf, -kInf};
  for (const auto& buckets : histograms) {
    for (const Bucket& bucket : buckets) {
      if (!std::isfinite(bucket.left) || !std::isfinite(bucket.right)) continue;
      range.left = std::min(range.left, bucket.left);
      range.right = std::max(range.right, bucket.right);
    }
  }
  if (range.left > range.right) return {0, 0};
  if (range.left == range.right) return {range.left / 1.1 - 1, range.right * 1.1 + 1};
  return range;
}

std::vector<double> equal_edges(Interval range, size_t bins) {
  std::vector<double> edges(bins + 1);
  for (size_t i = 0; i <= bins; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(bins);
    edges[i] = range.left * (1 - t) + range.right * t;  // no overflow for ±1e308
  }
  return edges;
}

std::vector<float> spread(std::span<const Bucket> buckets, Interval range, size_t bins) {
  std::vector<double> counts(bins, 0.0);
  const double width =
      range.right / static_cast<double>(bins) - range.left / static_cast<double>(bins);
  const auto bin_of = [&](double x) {
    if (!(width > 0)) return size_t{0};
    const double at = std::floor((x - range.left) / width);
    return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(bins - 1)));
  };
  for (const Bucket& bucket : buckets) {
    if (!usable(bucket)) continue;
    const double size = bucket.right - bucket.left;
    if (!(size > 0)) {
      counts[bin_of(bucket.left)] += bucket.count;
      continue;
    }
    const size_t first = bin_of(bucket.left), last = bin_of(bucket.right);
    for (size_t i = first; i <= last; ++i) {
      const double left = range.left + width * static_cast<double>(i);
      const double from = std::max(bucket.left, left);
      const double to = i + 1 == bins ? bucket.right : std::min(bucket.right, left + width);
      if (to > from) counts[i] += bucket.count * ((to - from) / size);
    }
  }
  return {counts.begin(), counts.end()};
}

HistogramStats stats_of(std::span<const Bucket> buckets) {
  HistogramStats stats;
  stats.min = std::numeric_limits<double>::quiet_NaN();
  stats.max = stats.min;
  for (const Bucket& bucket : buckets) {
    if (!usable(bucket)) {
      if (std::isfinite(bucket.count) && bucket.count > 0) stats.nan += bucket.count;
      continue;
    }
    const double middle = bucket.left / 2 + bucket.right / 2;
    if (std::isnan(stats.min)) stats.min = bucket.left;
    stats.min = std::min(stats.min, bucket.left);
    stats.max = std::isnan(stats.max) ? bucket.right : std::max(stats.max, bucket.right);
    stats.num += bucket.count;
    stats.sum += bucket.count * middle;
    stats.sum_squares += bucket.count * middle * middle;
  }
  return stats;
}

HistogramStats stats_of(const event::ValueView& value, std::span<const Bucket> buckets) {
  HistogramStats stats = stats_of(buckets);
  if (value.kind != event::ValueKind::kHisto) return stats;
  wire::Cursor cursor(value.body);
  for (wire::Field field; cursor.next(field);) {
    if (field.type != wire::Type::kFixed64) continue;
    switch (field.number) {
      case 1:
        stats.min = field.as_double();
        break;
      case 2:
        stats.max = field.as_double();
        break;
      case 3:
        stats.num = field.as_double();
        break;
      case 4:
        stats.sum = field.as_double();
        break;
      case 5:
        stats.sum_squares = field.as_double();
        break;
      default:
        break;
    }
  }
  // Writers put anything into the ends of an empty histogram: 0, or ±1.8e308 the wrong way round.
  if (!(stats.num > 0)) stats.min = stats.max = std::numeric_limits<double>::quiet_NaN();
  return stats;
}

}  // namespace sonde::query
