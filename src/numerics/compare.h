// Two dumps of one program, aligned op by op: where their numbers part for the first time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/first_fault.h"

namespace sonde::numerics {

struct Divergence {
  Link first, second;
  int64_t step = 0;
  bool has_steps = false;
  std::string what;  // "rms 1.2 and 1.4", "0 and 3 NaN"
};

struct Comparison {
  uint64_t compared = 0;  // tensors that both hold
  uint64_t only_first = 0, only_second = 0;
  // Where each traced tensor parts for the first time, in the first recording's order; at most
  // kMostDivergences.
  std::vector<Divergence> divergences;
};
inline constexpr size_t kMostDivergences = 1000;

// `tolerance` is the share by which the size of values may differ.
Comparison compare(const Dump& first, const Dump& second, double tolerance = 1e-3);
std::string sentence(const Comparison& comparison);

}  // namespace sonde::numerics
