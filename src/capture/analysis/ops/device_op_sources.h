// Where the ops of devices come from: kernels of GPUs, ops of TPU cores, programs compiled for the
// CPU. Used by device_ops.cc alone; profile/ops.h has what the tools ask for.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <vector>

#include "capture/analysis/ops/ops.h"

namespace sonde::capture {

// Adds up (step, op) pairs.
class StepSums {
 public:
  void add(int32_t group, uint32_t op, int64_t time_ps, int64_t self_ps) {
    if (group == Grouping::kNoGroup) return;
    const uint64_t key = (uint64_t{static_cast<uint32_t>(group)} << 32) | op;
    OpInStep& sum = sums_.try_emplace(key, OpInStep{group, op, 0, 0, 0}).first->second;
    ++sum.occurrences;
    sum.time_ps += time_ps;
    sum.self_ps += self_ps;
  }
  // By step, then by op.
  std::vector<OpInStep> sorted() const;

 private:
  boost::unordered_flat_map<uint64_t, OpInStep> sums_;
};

// What the ops are read from, and where their parts by step go; null when nobody asks for those.
struct OpSource {
  const trace::Trace& trace;
  const Vocabulary& words;
  const Grouping& grouping;
  const hlo::Modules& modules;
  StepSums* by_step;
};

// The text of the op's HLO instruction and where in the source it comes from.
void describe_instruction(DeviceOp& op);

DeviceOps gpu_ops(const OpSource& source);
DeviceOps tpu_ops(const OpSource& source);
// Programs compiled for the CPU: their thunks are host slices with hlo_op.
DeviceOps cpu_program_ops(const OpSource& source);

}  // namespace sonde::capture
