// Two captures against each other: what got slower, what faster, and whether that is more than
// noise.
#pragma once

#include <string>
#include <vector>

#include "capture/export/stats.h"

namespace sonde::exports {

struct Difference {
  std::string key;
  uint64_t count_a = 0, count_b = 0;
  double total_a = 0, total_b = 0;  // ps; per step when both sides have steps
  double mean_a = 0, mean_b = 0;    // of a slice
  // With five steps a side: whether the interval of the difference contains 0.
  bool may_be_noise = false;
  double change() const { return total_b - total_a; }
};

struct Comparison {
  std::string unit;               // "step" or "run"
  double per_a = 1, per_b = 1;    // how many of them
  double time_a = 0, time_b = 0;  // ps of one
  bool may_be_noise = false;
  std::vector<Difference> rows;  // largest change first
  double percent() const { return time_a > 0 ? 100 * (time_b - time_a) / time_a : 0; }
  std::string summary() const;
};

Comparison compare(const Totals& a, const Totals& b);

std::string diff_text(const Comparison& comparison, const Options& options);
std::string diff_csv(const Comparison& comparison, const Options& options);
std::string diff_json(const Comparison& comparison, const Options& options);

}  // namespace sonde::exports
