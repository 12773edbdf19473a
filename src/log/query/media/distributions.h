// A histogram reduced to nine quantiles, the way TensorBoard's distributions show it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "log/event/blob.h"

namespace sonde::query {

struct Quantile {
  int32_t basis_points = 0;  // 5000 = the median
  double value = 0;
};

// At 0, 668, 1587, 3085, 5000, 6915, 8413, 9332 and 10000 basis points (the half sigmas of a normal
// distribution between minimum and maximum), linear inside a bucket.
std::array<Quantile, 9> compressed(const std::vector<event::Bucket>& buckets);

}  // namespace sonde::query
