// How many points of a series lie above and below a range of values: what a chart says about the
// points its axis does not reach. Counts points, not what is drawn of them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "log/query/series/series_reader.h"

namespace sonde::query {

struct Outside {
  uint64_t below = 0, above = 0;
};

// Points with x in `range` (all without one); values that are no number count nowhere.
Outside count_outside(const SeriesReader& lens, Axis axis,
                      const std::optional<std::pair<double, double>>& range, double low,
                      double high);

}  // namespace sonde::query
