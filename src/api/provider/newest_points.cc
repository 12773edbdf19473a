#include "api/provider/newest_points.h"

#include <algorithm>
#include <limits>

namespace sonde::api::provider {

NewestPoint newest_point(const store::Series& series, const NewestPoint* earlier) {
  NewestPoint newest{std::numeric_limits<Step>::min(), -std::numeric_limits<double>::infinity(),
                     series.size(), series.layout()};
  // With the same layout the points read before are still the beginning of the series.
  uint64_t read = 0;
  if (earlier && earlier->layout == series.layout() && earlier->size > 0) {
    newest.step = earlier->step;
    newest.wall_time = earlier->wall_time;
    read = earlier->size;
  }
  const auto take = [&](Step step, double wall_time) {
    newest.step = std::max(newest.step, step);
    newest.wall_time = std::max(newest.wall_time, wall_time);
  };
  // A tag whose points a restart has superseded stays in the list.
  const auto view =
      series.size(store::View::kNewest) > 0 ? store::View::kNewest : store::View::kAll;
  for (store::Range range : series.ranges(view)) {
    range.begin = std::max(range.begin, read);
    if (range.begin >= range.end) continue;
    if (series.is_scalar()) {
      series.blocks(range, [&](const store::ScalarBlock& block) {
        for (size_t i = 0; i < block.size(); ++i) take(block.steps[i], block.wall_times[i]);
      });
    } else {
      for (const store::BlobPoint& point : series.points(range)) take(point.step, point.wall_time);
    }
  }
  return newest;
}

NewestPoints newest_points(const store::RunSnapshot& run, const NewestPoints* earlier) {
  NewestPoints newest;
  newest.reserve(run.series.size());
  for (const auto& series : run.series) {
    const auto known = earlier ? earlier->find(series->tag()) : NewestPoints::const_iterator{};
    newest.emplace(
        series->tag(),
        newest_point(*series, earlier && known != earlier->end() ? &known->second : nullptr));
  }
  return newest;
}

}  // namespace sonde::api::provider
