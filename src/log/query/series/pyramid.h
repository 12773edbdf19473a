// A summary of a long series: one Chunk for every 256 points of a view, so that any zoom touches
// few points. Building one reads the whole series once (10 M points: about 40 ms on one core); it
// is kept by query/cache.h and extended when points are added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "log/query/series/points.h"

namespace sonde::query {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr uint64_t kChunk = 256;
// Series up to this size are read whole for each question: that is quicker than looking anything
// up.
inline constexpr uint64_t kSmall = 4096;

// How x runs along one axis, within a stretch of points.
struct Run {
  uint32_t breaks = 0;                       // how often x is smaller than the x before it
  bool finite = true;                        // every x is a number
  double min = kInfinity, max = -kInfinity;  // over finite x

  bool sorted() const { return breaks == 0 && finite; }
};

struct Chunk {
  Step first_step = 0, last_step = 0;
  double first_wall = 0, last_wall = 0;
  double first = 0, last = 0;        // values as they are
  double min = 0, max = 0, sum = 0;  // over finite values; min = +inf, max = -inf if none
  uint32_t finite = 0;               // how many values are finite
  Run steps, walls;                  // breaks count the step from the chunk before too
};

struct Pyramid {
  uint64_t size = 0;                         // points of the view that are summarised
  std::vector<Chunk> chunks;                 // the last one may be part filled
  Run steps, walls;                          // over the whole view
  double min = kInfinity, max = -kInfinity;  // of finite values
  uint64_t non_finite = 0;

  uint64_t chunk_begin(size_t i) const { return i * kChunk; }
  uint64_t chunk_end(size_t i) const { return std::min(size, (i + 1) * kChunk); }
  size_t bytes() const { return sizeof *this + chunks.size() * sizeof(Chunk); }
};

// Summarises the view. `before` is a pyramid of an earlier, shorter state of the same view (or
// nullptr): its full chunks are taken over.
std::shared_ptr<const Pyramid> build_pyramid(const ViewReader& reader, const Pyramid* before,
                                             ThreadPool* pool);

// How x of `axis` runs over points that are at hand.
Run run_of(const Points& points, Axis axis);

}  // namespace sonde::query
