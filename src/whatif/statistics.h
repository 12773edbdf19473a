// What a column holds: counts, moments, quantiles, histograms, frequent values; and how far two
// data sets differ in it. Exact: values are partly sorted, not sketched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

struct NumericStatistics {
  double mean = kNaN, deviation = kNaN, low = kNaN, median = kNaN, high = kNaN;
  uint64_t zeros = 0, not_finite = 0;
  std::vector<double> quantiles;    // eleven: 0 %, 10 % … 100 %
  std::vector<double> edges;        // eleven edges of ten buckets of equal width
  std::vector<uint64_t> histogram;  // ten
};
struct WordCount {
  std::string word;
  uint64_t count = 0;
};
struct WordStatistics {
  uint64_t unique = 0;
  double mean_length = 0;      // bytes, over all values
  std::vector<WordCount> top;  // falling count, at most kTopWords
};
inline constexpr size_t kTopWords = 50;

struct ColumnStatistics {
  std::string name;
  Kind kind = Kind::kNumeric;
  uint64_t count = 0, missing = 0;  // examples with and without a value
  double mean_list_length = 1, longest_list = 1;
  // Of a column of lists: how many examples by the list's length, in at most ten buckets.
  std::vector<uint64_t> lengths;
  std::vector<double> length_edges;
  NumericStatistics numeric;
  WordStatistics words;
  double non_uniformity = 0;  // 1 - normalised entropy of the histogram
};

ColumnStatistics statistics_of(const Column& column);
std::vector<ColumnStatistics> statistics_of(const Dataset& data, ThreadPool* pool = nullptr);

// Numeric: the largest difference of the two distribution functions. Otherwise half the sum of the
// differences of the frequencies. NaN when the kinds differ or one is empty.
double drift_between(const Column& a, const Column& b);

}  // namespace sonde::whatif
