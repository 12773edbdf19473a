// Time by operation. Host ops are counted by thread (times of threads add up), device ops by
// device. From the device ops, frameworks' names give the second view: all kernels of one framework
// op together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/forest.h"
#include "capture/analysis/grouping.h"
#include "capture/analysis/hlo/module.h"
#include "capture/analysis/vocabulary.h"

namespace sonde::capture {

struct HostOp {
  std::string name, type;
  int64_t occurrences = 0, time_ps = 0, self_ps = 0;
  bool eager = false;
  bool is_stage = false;  // from framework-neutral input stages; type is the stage's category
};

struct HostOps {
  std::vector<HostOp> ops;                   // by name
  int64_t idle_ps = 0;                       // summed over threads
  int64_t busy_ps = 0;                       // sum of self times
  int64_t infeed_ps = 0, infeed_gap_ps = 0;  // of InfeedEnqueue ops
};

HostOps host_ops(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping);

struct DeviceOp {
  std::string name;      // HLO instruction, or "<framework op>/<kernel>"
  std::string category;  // HLO category or framework op type
  std::string provenance;
  uint64_t program_id = 0;
  bool is_hlo = false;
  int64_t occurrences = 0, time_ps = 0, self_ps = 0, min_ps = INT64_MAX;
  double flops = 0, model_flops = 0;  // sums over occurrences
  double bytes = 0, hbm_bytes = 0;
  double cmem_read = 0, cmem_write = 0, vmem_read = 0, vmem_write = 0;
  bool flops_estimated = false;  // from shapes of a framework op
  bool eager = false;
  uint32_t devices = 0;
  std::string expression, source, source_stack, deduplicated_name;
  const hlo::Module* module = nullptr;  // live in the HostAnalysis
  const hlo::Instruction* instruction = nullptr;
};

struct DeviceOps {
  std::vector<DeviceOp> ops;
  int64_t total_ps = 0, idle_ps = 0;  // summed over devices
  // Of TPU cores, on the host's clock: from the first module or op to the last, and how much of
  // that an op was at work that does not merely wait for the host.
  int64_t duty_window_ps = 0, on_duty_ps = 0;
  uint32_t devices = 0;         // with any event
  uint64_t without_module = 0;  // kernels of programs whose HLO the capture lacks
  bool on_host = false;         // the ops ran on the CPU: there is no device, peaks are unknown
};

DeviceOps device_ops(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
                     const hlo::Modules& modules);

// What part of the device ops falls into one step.
struct OpInStep {
  int32_t group;
  uint32_t op;  // in DeviceOps::ops
  int64_t occurrences, time_ps, self_ps;
};
// By group, then op. A second pass over the device slices, for the one tool that needs it.
std::vector<OpInStep> device_ops_by_step(const trace::Trace& trace, const Vocabulary& words,
                                         const Grouping& grouping, const hlo::Modules& modules);
// The ops of one step: `all` scaled down to what `parts` say of the group.
DeviceOps ops_of_step(const DeviceOps& all, const std::vector<OpInStep>& parts, int32_t group);

// Device ops by framework name.
struct FrameworkOp {
  std::string name, type;
  int64_t occurrences = 0, time_ps = 0, self_ps = 0;
  double flops = 0, model_flops = 0, bytes = 0, hbm_bytes = 0;
  bool eager = false, is_parameter = false;
};
std::vector<FrameworkOp> framework_ops(const DeviceOps& device);

// Calls of tf.functions: how often each was traced, run eagerly or reused.
struct FunctionCalls {
  std::string name;
  int64_t calls[4] = {};  // eager, concrete, traced, not traced
  int64_t self_ps[4] = {};
  int64_t tracing_count = 0, first_tracing_count = -1;
  double expensive_percent() const;
};
std::vector<FunctionCalls> function_calls(const trace::Trace& trace, const Vocabulary& words);

// The framework op of a device slice: tf_op, or `level 0` of old TensorFlow, or `name` of ROCm.
std::string_view framework_op_text(const trace::Trace& trace, const Keys& key, trace::SliceId s);

}  // namespace sonde::capture
