// Ranks on one axis. Clocks of machines differ by milliseconds; the end of a collective does not:
// no rank leaves before the last has come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/pytorch/collectives.h"

namespace sonde::capture {
class HostAnalysis;
}

namespace sonde::capture::pytorch {

// One collective on all ranks: its call by rank.
using Meeting = std::vector<const Collective*>;
// Those that every rank took part in, in the order of the first rank.
std::vector<Meeting> meetings_of(const std::vector<std::vector<Collective>>& by_rank);

struct CommonClock {
  std::vector<int64_t> offset_ps;  // added to a rank's times it gives those of the first
  size_t collectives = 0;          // that it rests on
  std::string rule;                // for people
};
// By the ends of shared collectives, else by the wall clocks, else start to start.
CommonClock common_clock(const std::vector<const HostAnalysis*>& hosts);

}  // namespace sonde::capture::pytorch
