// Buckets of raw data: the equal-width ones of tf.summary.histogram, and the growing ones that
// TensorFlow 1 and torch write. One pass for the range, one for the counts, no copy of the data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonde/summary.h"

namespace sonde::writer {

struct EqualBuckets {
  std::vector<double> rows;  // k rows of left, right, count
  uint64_t nan = 0, positive_infinite = 0, negative_infinite = 0;
};
// k buckets over the finite elements; all equal: the count is in the last of k empty-width rows.
EqualBuckets equal_buckets(const Array& data, int k);

struct EdgeBuckets {
  double min = 0, max = 0, sum = 0, sum_squares = 0;
  uint64_t num = 0;
  std::vector<double> limits;  // right edges
  std::vector<double> counts;
};
// The edges ..., -1.1e-12, -1e-12, 0, 1e-12, 1.1e-12, ... below 1e20 that torch calls "tensorflow".
const std::vector<double>& growing_edges();
// numpy.histogram over `edges` (ascending; half-open, the last closed), trimmed as torch does: from
// one empty bucket before the first filled one to the last filled one. max_bins merges neighbours.
// Nothing when no element falls between the edges.
std::optional<EdgeBuckets> edge_buckets(const Array& data, std::span<const double> edges,
                                        std::optional<int> max_bins = {});

}  // namespace sonde::writer
