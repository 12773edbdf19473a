#include "log/query/series/outside.h"

#include <cmath>

namespace sonde::query {
namespace {

class Counter {
 public:
  Counter(const SeriesReader& lens, Axis axis,
          const std::optional<std::pair<double, double>>& range, double low, double high)
      : lens_(lens), axis_(axis), range_(range), low_(low), high_(high) {}

  void look(const Points& points) {
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = points.values[i];
      if (!std::isfinite(value) || (value >= low_ && value <= high_)) continue;
      if (range_) {
        const double x = lens_.x(axis_, points.steps[i], points.walls[i]);
        if (!(x >= range_->first && x <= range_->second)) continue;
      }
      ++(value < low_ ? outside_.below : outside_.above);
    }
  }

  // A chunk whose values all lie inside has nothing to say; one that lies outside as a whole is
  // counted without reading it when no range of x cuts it.
  void look(const Chunk& chunk, uint64_t begin, uint64_t end) {
    if (chunk.finite == 0 || (chunk.min >= low_ && chunk.max <= high_)) return;
    if (!range_ && chunk.max < low_) {
      outside_.below += chunk.finite;
    } else if (!range_ && chunk.min > high_) {
      outside_.above += chunk.finite;
    } else {
      points_.clear();
      lens_.read(begin, end, points_);
      look(points_);
    }
  }

  Outside found() const { return outside_; }

 private:
  const SeriesReader& lens_;
  const Axis axis_;
  const std::optional<std::pair<double, double>> range_;
  const double low_, high_;
  Points points_;
  Outside outside_;
};

}  // namespace

Outside count_outside(const SeriesReader& lens, Axis axis,
                      const std::optional<std::pair<double, double>>& range, double low,
                      double high) {
  Counter counter(lens, axis, range, low, high);
  if (lens.is_small()) {
    counter.look(lens.all());
    return counter.found();
  }
  const Pyramid& pyramid = lens.pyramid();
  for (size_t i = 0; i < pyramid.chunks.size(); ++i)
    counter.look(pyramid.chunks[i], pyramid.chunk_begin(i), pyramid.chunk_end(i));
  return counter.found();
}

}  // namespace sonde::query
