// Who the others wait for. A rank that is early waits inside a collective until the last one is
// there, so ranks of one job have equal steps; what differs is how long each stands in its
// collectives. The rank that waits least is the one that arrives last. No common clock is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

struct Arrivals {
  size_t collectives = 0;                    // matched on all ranks
  std::vector<size_t> last;                  // by rank: collectives in which it arrived last
  std::vector<double> wait_ms;               // by rank: a step, median over steps
  std::vector<std::vector<double>> by_step;  // rank, step: ms waited
  size_t late = 0;                           // the rank that waits least
  double late_ms = 0;  // a step: what the least waiting of the others waits longer
};
// Captures of the ranks of one job; nothing matched: collectives is 0.
Arrivals arrivals_of(const std::vector<const Capture*>& ranks);

}  // namespace sonde::capture::pytorch
