// Histograms for pictures: spread over common bins, statistics. All of it works on
// [left, right, count] rows as event::histogram gives them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "log/event/blob.h"

namespace sonde::query {

using event::Bucket;

struct Interval {
  double left = 0, right = 0;
};

// The smallest interval that holds every bucket with finite edges; a point is widened to
// left/1.1 - 1 … right·1.1 + 1. {0, 0} when there is none.
Interval common_range(std::span<const std::vector<Bucket>> histograms);

std::vector<double> equal_edges(Interval range, size_t bins);

// Counts in equal bins over `range`: a bucket is split by overlap, one of no width counts whole
// where it lies (bins are right-open, the last is closed).
std::vector<float> spread(std::span<const Bucket> buckets, Interval range, size_t bins);

struct HistogramStats {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0, nan = 0;
};

// From bucket middles.
HistogramStats stats_of(std::span<const Bucket> buckets);
// From the value itself where it is an old HistogramProto, which holds exact figures.
HistogramStats stats_of(const event::ValueView& value, std::span<const Bucket> buckets);

}  // namespace sonde::query
