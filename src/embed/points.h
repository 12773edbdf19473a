// A set of vectors to project: n rows of d floats, row-major. Non-finite values are not allowed
// inside this layer; prepare() replaces them and says how many there were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sonde::embed {

struct Points {
  size_t count = 0;
  size_t dims = 0;
  std::vector<float> values;  // count * dims

  const float* row(size_t i) const { return values.data() + i * dims; }
  float* row(size_t i) { return values.data() + i * dims; }
};

enum class Scaling : uint8_t {
  kNone,
  kSphere,  // TensorBoard's "sphereize": subtract the centroid, scale each row to length one
};

struct Prepared {
  Points points;
  size_t replaced = 0;  // values that were NaN or infinite and are zero now
};

// The rows of `subset` (all when empty) of a table, made finite, then scaled.
Prepared prepare(std::span<const float> values, size_t dims, std::span<const uint32_t> subset,
                 Scaling scaling);

// Called after each round of a projection with the positions so far; returning false stops it.
// `stage` is a word for people: "neighbours", "optimising". May be called from any thread.
struct Progress {
  std::function<bool(const char* stage, int iteration, int of, std::span<const float> positions)>
      report;

  bool operator()(const char* stage, int iteration, int of,
                  std::span<const float> positions = {}) const {
    return !report || report(stage, iteration, of, positions);
  }
};

// For a step inside another projection: its positions are not the picture.
inline Progress without_positions(const Progress& progress) {
  return {[&progress](const char* stage, int iteration, int of, std::span<const float>) {
    return progress(stage, iteration, of);
  }};
}

}  // namespace sonde::embed
