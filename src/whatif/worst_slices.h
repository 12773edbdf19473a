// Which groups a model fails: every value of every feature, then pairs and triples of them, ranked
// by how bad the group is for certain. A group that is no worse than a larger one it is part of is
// left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "whatif/intervals.h"
#include "whatif/slices.h"

namespace sonde::whatif {

struct WorstOptions {
  size_t depth = 2;         // features a group is made of, 1 … 3
  size_t min_support = 30;  // examples
  size_t count = 20;        // groups to return
  size_t buckets = 4;       // of a number, of equal frequency
  std::vector<std::string> skip = {};
  ThreadPool* pool = nullptr;
};

struct WorstSlice {
  std::vector<std::string> features, values;
  uint32_t support = 0;
  double loss = 0;    // mean over the group
  double rest = 0;    // mean over everybody else
  Interval interval;  // of the group's mean
  double excess = 0;  // what the group's mean is above the rest's for certain: the ranking
};

// `loss` is what the model got wrong about each example: 1 or 0 for a classification, the absolute
// error for a regression, NaN to leave the example out.
std::vector<WorstSlice> worst_slices(const Dataset& data, const std::vector<double>& loss,
                                     const WorstOptions& options);

}  // namespace sonde::whatif
