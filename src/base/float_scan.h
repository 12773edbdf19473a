// One look at many floats: their range, sums, and whether all are finite. What a histogram has to
// know of its data beside the counts. Compiled for several processors and chosen at run time; every
// version adds in the same order, so a result does not depend on the machine.
#pragma once

#include <cstddef>
#include <limits>

namespace sonde {

struct FloatScan {
  float low = std::numeric_limits<float>::max();      // of what is not NaN
  float high = std::numeric_limits<float>::lowest();  // of what is not NaN
  bool finite = true;                                 // no NaN, no infinity
  double sum = 0, sum_squares = 0;
};

FloatScan scan_floats(const float* data, size_t n);

// The plain version, public for the test only.
FloatScan scan_floats_plain(const float* data, size_t n);

}  // namespace sonde
