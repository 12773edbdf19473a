// Where each run lies on the common time axis, and what its span says about it: the first run of a
// program pays for initialisation and is told apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/export/sources.h"

namespace sonde::exports {

struct Place {
  int64_t offset_ps = 0;  // added to the run's trace times
};

struct Axis {
  std::vector<Place> places;  // by run
  // Unix time of 0 on the axis in ns; 0 when times are relative.
  int64_t base_ns = 0;
  std::string rule;  // how the runs were aligned, for people
};

// kInvalid for a rule that does not apply to these runs.
Result<Axis> place(std::span<const Run> runs, const Options& options);

struct RunFacts {
  bool is_warmup = false;   // first, and longer than 1.5 times the median of the others
  bool is_outlier = false;  // longer than the median + 5 median absolute deviations
};
std::vector<RunFacts> judge(std::span<const Run> runs);

// "5.5 ms": three digits and the unit that suits.
std::string human_time(double ps);
// "12.5us", "3 ms", "1.2s", a bare number is microseconds. kInvalid otherwise.
Result<int64_t> parse_time_ps(std::string_view text);

}  // namespace sonde::exports
