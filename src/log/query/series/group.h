// Several runs as one line with a band: each member is evaluated on a common grid of x, then the
// values at each place become a centre and two edges. Rules in docs/api.md §3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "log/query/series/series_reader.h"

namespace sonde::query {

struct GroupRule {
  enum class Centre : uint8_t { kMean, kMedian };
  enum class Band : uint8_t { kStd, kStandardError, kMinMax, kQuantiles, kBootstrap };
  Centre centre = Centre::kMean;
  Band band = Band::kStd;
  double low = 0.05, high = 0.95;  // of kQuantiles
};

struct Band {
  std::vector<double> centre, lo, hi;  // NaN where there is no member
  std::vector<uint16_t> members;
};

// Values of one series at `grid` (ascending), by linear interpolation between neighbouring finite
// points; NaN outside its extent.
std::vector<double> interpolated(const SeriesReader& lens, Axis axis, const Smoothing& smoothing,
                                 std::span<const double> grid);

// The same from plain points whose x ascends.
std::vector<double> interpolated(std::span<const double> xs, std::span<const double> ys,
                                 std::span<const double> grid);

// rows[m][i] = value of member m at grid place i, NaN where it does not count.
Band band_of(const std::vector<std::vector<double>>& rows, size_t places, const GroupRule& rule,
             ThreadPool* pool);

// Quantile of ascending values with linear interpolation (numpy's default); they are not empty.
double quantile(std::span<const double> ascending, double q);

}  // namespace sonde::query
