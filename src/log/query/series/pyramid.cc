#include "log/query/series/pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

template <class T>
void extend(Run& run, const std::vector<T>& xs, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const auto x = static_cast<double>(xs[i]);
    if (!std::isfinite(x)) {
      run.finite = false;
      continue;
    }
    run.min = std::min(run.min, x);
    run.max = std::max(run.max, x);
    if (i > begin && xs[i] < xs[i - 1]) ++run.breaks;
  }
}

// The chunk itself, without its relation to the chunk before.
Chunk summary_of(const Points& points, size_t begin, size_t end) {
  Chunk chunk;
  chunk.first_step = points.steps[begin];
  chunk.last_step = points.steps[end - 1];
  chunk.first_wall = points.walls[begin];
  chunk.last_wall = points.walls[end - 1];
  chunk.first = points.values[begin];
  chunk.last = points.values[end - 1];
  chunk.min = kInfinity;
  chunk.max = -kInfinity;
  for (size_t i = begin; i < end; ++i) {
    const double value = points.values[i];
    if (!std::isfinite(value)) continue;
    chunk.min = std::min(chunk.min, value);
    chunk.max = std::max(chunk.max, value);
    chunk.sum += value;
    ++chunk.finite;
  }
  extend(chunk.steps, points.steps, begin, end);
  extend(chunk.walls, points.walls, begin, end);
  return chunk;
}

void merge(Run& run, const Run& part) {
  run.breaks += part.breaks;
  run.finite &= part.finite;
  run.min = std::min(run.min, part.min);
  run.max = std::max(run.max, part.max);
}

}  // namespace

std::shared_ptr<const Pyramid> build_pyramid(const ViewReader& reader, const Pyramid* before,
                                             ThreadPool* pool) {
  auto pyramid = std::make_shared<Pyramid>();
  size_t kept = 0;
  if (before && before->size <= reader.size()) {
    kept = before->size / kChunk;
    pyramid->chunks.assign(before->chunks.begin(), before->chunks.begin() + kept);
  }
  pyramid->size = reader.size();
  const size_t count = (pyramid->size + kChunk - 1) / kChunk;
  pyramid->chunks.resize(count);

  constexpr size_t kPerJob = 512;  // chunks: 131 072 points, some 3 MB
  const size_t jobs = (count - kept + kPerJob - 1) / kPerJob;
  const auto job = [&](size_t j) {
    Points points;
    const size_t to = std::min(count, kept + (j + 1) * kPerJob);
    for (size_t c = kept + j * kPerJob; c < to; ++c) {
      points.clear();
      reader.read(pyramid->chunk_begin(c), pyramid->chunk_end(c), points);
      pyramid->chunks[c] = summary_of(points, 0, points.size());
    }
  };
  if (pool && jobs > 1) {
    pool->for_each(jobs, job);
  } else {
    for (size_t j = 0; j < jobs; ++j) job(j);
  }
  for (size_t c = std::max<size_t>(kept, 1); c < count; ++c) {
    const Chunk& previous = pyramid->chunks[c - 1];
    Chunk& chunk = pyramid->chunks[c];
    if (chunk.first_step < previous.last_step) ++chunk.steps.breaks;
    if (chunk.first_wall < previous.last_wall) ++chunk.walls.breaks;
  }
  for (size_t c = 0; c < count; ++c) {
    const Chunk& chunk = pyramid->chunks[c];
    merge(pyramid->steps, chunk.steps);
    merge(pyramid->walls, chunk.walls);
    pyramid->min = std::min(pyramid->min, chunk.min);
    pyramid->max = std::max(pyramid->max, chunk.max);
    pyramid->non_finite += pyramid->chunk_end(c) - pyramid->chunk_begin(c) - chunk.finite;
  }
  return pyramid;
}

Run run_of(const Points& points, Axis axis) {
  Run run;
  if (axis == Axis::kStep) {
    extend(run, points.steps, 0, points.size());
    return run;
  }
  extend(run, points.walls, 0, points.size());
  if (axis == Axis::kRelative && points.size() > 0) {
    run.min -= points.walls[0];
    run.max -= points.walls[0];
    run.finite &= std::isfinite(points.walls[0]);
  }
  return run;
}

}  // namespace sonde::query
