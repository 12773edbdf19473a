// What a curve does, in a few numbers: its extremes, where it bends or jumps, which points stand
// out. For people who ask instead of look: alerts, agents, the command line. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "log/query/series/points.h"

namespace sonde::query {

struct CurveSummary {
  uint64_t points = 0, not_finite = 0;
  Step first_step = 0, last_step = 0, min_step = 0, max_step = 0;
  double first_wall = 0, last_wall = 0;
  double first = 0, last = 0;            // as they are, NaN included
  double min = 0, max = 0, mean = 0;     // of the finite values; NaN without any
  std::optional<Step> first_not_finite;  // where the first NaN or infinity stands
};
CurveSummary summary_of(const Points& points);

// Where one straight line stops describing the curve. `before` and `after` are what the lines on
// both sides say at that place, slopes are per point.
struct ChangePoint {
  size_t index = 0;
  double before = 0, after = 0, slope_before = 0, slope_after = 0;
  double strength = 0;  // squared error saved, in units of the noise
  bool is_jump = false;
};
// The strongest `most`, in order of place. Values that are not finite are passed over. Curves of
// more than 4096 points are averaged in equal parts first, so a place is exact to n / 4096.
std::vector<ChangePoint> change_points(std::span<const double> values, size_t most);

// A point far from its neighbours: |value - median of 15| in units of the usual distance.
struct Spike {
  size_t index = 0;
  double value = 0, expected = 0, z = 0;
};
std::vector<Spike> spikes(std::span<const double> values, double min_z, size_t most);

double median_of(std::vector<double> values);  // NaN when empty

}  // namespace sonde::query
