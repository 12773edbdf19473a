// Whether two captures differ by more than their steps do among themselves.
#pragma once

#include <vector>

namespace sonde::capture {

// The change of the mean step from one capture to the other, as a share of the first: what was
// measured, and the range in which 95 % of repetitions would lie (percentile bootstrap with a fixed
// seed: the same captures always give the same answer).
struct Change {
  double share = 0;
  double low = 0, high = 0;
  bool has_interval = false;  // three steps on each side at least

  bool is_noise() const { return has_interval && low <= 0 && high >= 0; }
};
Change change_of(const std::vector<double>& before, const std::vector<double>& now);

}  // namespace sonde::capture
