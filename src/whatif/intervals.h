// 95 % intervals: how far a figure may be off because few examples stand behind it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "whatif/dataset.h"

namespace sonde::whatif {

inline constexpr double kZ95 = 1.959963984540054;

struct Interval {
  double low = kNaN, high = kNaN;
};

// Wilson's interval of `hits` out of `count`; NaN when count is 0.
inline Interval wilson(double hits, double count) {
  if (!(count > 0)) return {};
  const double z2 = kZ95 * kZ95, share = hits / count, scale = 1 / (1 + z2 / count);
  const double centre = (share + z2 / (2 * count)) * scale;
  const double half =
      kZ95 * scale * std::sqrt(share * (1 - share) / count + z2 / (4 * count * count));
  return {hits <= 0 ? 0 : std::max(0.0, centre - half),
          hits >= count ? 1 : std::min(1.0, centre + half)};
}

// Of a mean, by the normal approximation; NaN below two values.
inline Interval mean_interval(double mean, double variance, double count) {
  if (!(count > 1)) return {};
  const double half = kZ95 * std::sqrt(std::max(0.0, variance) / count);
  return {mean - half, mean + half};
}

// a / b, 0 when b is 0: the rule of the tables.
inline double share_of(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace sonde::whatif
