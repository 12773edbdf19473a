// Histograms for pictures: spread over common bins, percentiles, statistics. All of it works on
// [left, right, count] rows as event::histogram gives them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "event/blob.h"

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

// Normal distribution's -∞, -1.5σ … +1.5σ, +∞, in 1/10 000.
inline constexpr std::array<int, 9> kBasisPoints = {0,    668,  1587, 3085, 5000,
                                                    6915, 8413, 9332, 10000};

// Values at kBasisPoints, linear inside a bucket; how TensorBoard's distributions are made.
std::array<double, 9> percentiles(std::span<const Bucket> buckets);

struct HistogramStats {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0, nan = 0;
};

// From bucket middles.
HistogramStats stats_of(std::span<const Bucket> buckets);
// From the value itself where it is an old HistogramProto, which holds exact figures.
HistogramStats stats_of(const event::ValueView& value, std::span<const Bucket> buckets);

}  // namespace sonde::query
