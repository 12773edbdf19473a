// Collective operations of a PyTorch capture: one entry a call, with the times it took on host and
// device, matched across the ranks of a session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

struct Collective {
  std::string name;   // nccl:all_reduce …; of a kernel without a host call, the kernel's
  std::string group;  // process group, empty when not recorded
  int64_t sequence = -1;
  Range call;       // on the host, or of the kernel
  Ranges ranges;    // of the call and the kernels it launched, by begin
  Ranges transfer;  // the part of each range in which data moved; set by match()
  int64_t bytes = 0;
  int32_t step = -1;                        // in Capture::steps; -1: in none
  std::vector<trace::SliceId> slices = {};  // of the call, then of its kernels
};

std::vector<Collective> collectives_of(const Capture& capture);  // by begin

// A rank that is early waits inside the collective; data moves once the last one is there. So the
// shortest of the matching ranges is the transfer, at the end of each rank's own range; the rest
// is waiting. Calls are matched by group and sequence number where recorded, else by order among
// those of one name. Returns how many found no partner on some rank.
size_t match(std::vector<std::vector<Collective>>& by_rank);

}  // namespace sonde::capture::pytorch
