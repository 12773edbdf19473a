// Smoothing of a scalar series over all its points, before anything is thinned, so that a curve
// does not depend on how many points were sent. The formulas are in docs/api.md §3; the exponential
// one is TensorBoard's debiased moving average, bit for bit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "log/query/series/points.h"

namespace sonde::query {

class SeriesReader;

struct Smoothing {
  enum class Kind : uint8_t { kNone, kEma, kMean, kGauss };
  Kind kind = Kind::kNone;
  double p = 0;  // weight, window in points, sigma in points

  bool is_on() const { return kind != Kind::kNone; }
};

inline constexpr double kMaxWindow = 1e6;   // points
inline constexpr double kMaxSigma = 10000;  // points

// The moving average's memory between two points.
struct EmaState {
  double last = 0;
  uint64_t n = 0;
  bool settled = false;  // the bias is too small to matter

  // Takes one value in and gives the smoothed one.
  double next(double value, double weight);
};

// The state before each chunk of a long series: any point is then at most one chunk away.
struct EmaCheckpoints {
  double weight = 0;
  uint64_t size = 0;
  std::vector<EmaState> at;  // one per chunk

  size_t bytes() const { return sizeof *this + at.size() * sizeof(EmaState); }
};

// Smooths plain values, all at once.
std::vector<double> smoothed(std::span<const double> values, const Smoothing& smoothing);

// Smoothed values at the given indices of a view (any order; ascending is quick).
std::vector<double> smoothed_at(const SeriesReader& lens, const Smoothing& smoothing,
                                std::span<const uint64_t> indices);

}  // namespace sonde::query
