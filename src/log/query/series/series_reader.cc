#include "log/query/series/series_reader.h"

#include <algorithm>
#include <cmath>

#include "log/query/series/cache.h"

namespace sonde::query {

SeriesReader::SeriesReader(const store::Series& series, const SeriesKey& key, ThreadPool* pool)
    : reader_(series, key.view), key_(key) {
  if (reader_.size() <= kSmall) {
    reader_.read(0, reader_.size(), all_);
    first_wall_ = all_.size() > 0 ? all_.walls[0] : 0;
    steps_ = run_of(all_, Axis::kStep);
    walls_ = run_of(all_, Axis::kWall);
  } else {
    pyramid_ = cached_pyramid(reader_, key, pool);
    first_wall_ = pyramid_->chunks[0].first_wall;
    steps_ = pyramid_->steps;
    walls_ = pyramid_->walls;
  }
  relative_ = walls_;
  relative_.min -= first_wall_;
  relative_.max -= first_wall_;
  relative_.finite &= std::isfinite(first_wall_);
}

const Run& SeriesReader::run(Axis axis) const {
  if (axis == Axis::kStep) return steps_;
  return axis == Axis::kWall ? walls_ : relative_;
}

bool SeriesReader::is_constant() const {
  if (!is_small()) return pyramid_->non_finite == 0 && pyramid_->min == pyramid_->max;
  return std::all_of(all_.values.begin(), all_.values.end(),
                     [&](double value) { return value == all_.values[0]; });
}

template <class Below>
uint64_t SeriesReader::partition(Axis axis, Below below) const {
  const auto inside = [&](const Points& points, uint64_t base) {
    size_t lo = 0, hi = points.size();
    while (lo < hi) {
      const size_t mid = (lo + hi) / 2;
      if (below(x(axis, points.steps[mid], points.walls[mid]))) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return base + lo;
  };
  if (is_small()) return inside(all_, 0);
  const auto& chunks = pyramid_->chunks;
  const auto chunk = std::partition_point(chunks.begin(), chunks.end(), [&](const Chunk& c) {
    return below(x(axis, c.last_step, c.last_wall));
  });
  if (chunk == chunks.end()) return size();
  const auto at = static_cast<size_t>(chunk - chunks.begin());
  Points points;
  read(pyramid_->chunk_begin(at), pyramid_->chunk_end(at), points);
  return inside(points, pyramid_->chunk_begin(at));
}

uint64_t SeriesReader::lower(Axis axis, double limit) const {
  return partition(axis, [limit](double x) { return x < limit; });
}

uint64_t SeriesReader::upper(Axis axis, double limit) const {
  return partition(axis, [limit](double x) { return x <= limit; });
}

std::shared_ptr<const EmaCheckpoints> SeriesReader::trail(double weight) const {
  return cached_trail(reader_, key_, weight);
}

}  // namespace sonde::query
