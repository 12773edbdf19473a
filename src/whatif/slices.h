// Examples in groups by the values of up to three features. A category is its own slice; a number
// with more values than buckets is cut into buckets; what is missing is the slice "?".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

inline constexpr size_t kMaxSliceFeatures = 3;
inline constexpr size_t kMaxSlices = 2000;

enum class Cut : uint8_t { kEqualWidth, kEqualFrequency };

struct SliceBy {
  std::string feature;
  size_t buckets = 2;
  Cut cut = Cut::kEqualWidth;
};

// One feature's groups.
struct Groups {
  std::string feature;
  std::vector<uint32_t> group;     // of each example
  std::vector<std::string> names;  // of each group, in the order of first appearance
};
Groups groups_of(const Column& column, size_t buckets, Cut cut);

struct Slice {
  std::vector<std::string> keys;  // one a feature
  uint32_t count = 0;

  std::string name() const;  // keys joined by ", "
};
struct Slicing {
  std::vector<std::string> features;
  std::vector<uint32_t> slice;  // of each example
  std::vector<Slice> slices;    // in the order of first appearance
};

// No feature: one slice with everything. kNotFound, kInvalid for more than three features or
// buckets out of range, kTooLarge for more than kMaxSlices slices.
Result<Slicing> slice_by(const Dataset& data, const std::vector<SliceBy>& by);

// The inner edges of equal-width buckets, rounded to one decimal more than the spread has.
std::vector<double> equal_width_edges(double low, double high, double deviation, size_t buckets);

}  // namespace sonde::whatif
