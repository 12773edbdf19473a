#include <algorithm>
#include <map>

#include "capture/analysis/hlo/text.h"
#include "capture/analysis/ops/device_op_sources.h"
#include "capture/analysis/ops/ops.h"

namespace sonde::capture {

std::vector<OpInStep> StepSums::sorted() const {
  std::vector<OpInStep> all;
  for (const auto& [key, sum] : sums_) all.push_back(sum);
  std::sort(all.begin(), all.end(), [](const OpInStep& a, const OpInStep& b) {
    return std::pair(a.group, a.op) < std::pair(b.group, b.op);
  });
  return all;
}

void describe_instruction(DeviceOp& op) {
  op.expression = hlo::instruction_text(*op.module, *op.instruction, hlo::TextStyle::kOneLine);
  op.source = op.module->source(*op.instruction);
  op.source_stack = op.module->source_stack(*op.instruction);
  if (!op.source_stack.empty()) op.source_stack += "\n";
}

namespace {

DeviceOps collect(const OpSource& source) {
  if (!source.words.tpu_planes.empty()) return tpu_ops(source);
  if (!source.words.gpu_planes.empty()) return gpu_ops(source);
  return cpu_program_ops(source);
}

}  // namespace

DeviceOps device_ops(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
                     const hlo::Modules& modules) {
  return collect({trace, words, grouping, modules, nullptr});
}

std::vector<OpInStep> device_ops_by_step(const trace::Trace& trace, const Vocabulary& words,
                                         const Grouping& grouping, const hlo::Modules& modules) {
  StepSums sums;
  (void)collect({trace, words, grouping, modules, &sums});
  return sums.sorted();
}

DeviceOps ops_of_step(const DeviceOps& all, const std::vector<OpInStep>& parts, int32_t group) {
  DeviceOps step;
  step.devices = all.devices;
  step.on_host = all.on_host;
  auto at = std::lower_bound(parts.begin(), parts.end(), group,
                             [](const OpInStep& part, int32_t g) { return part.group < g; });
  for (; at != parts.end() && at->group == group; ++at) {
    DeviceOp op = all.ops[at->op];
    const double share = op.occurrences == 0 ? 0.0
                                             : static_cast<double>(at->occurrences) /
                                                   static_cast<double>(op.occurrences);
    op.occurrences = at->occurrences;
    op.time_ps = at->time_ps;
    op.self_ps = at->self_ps;
    for (double* sum : {&op.flops, &op.model_flops, &op.bytes, &op.hbm_bytes, &op.cmem_read,
                        &op.cmem_write, &op.vmem_read, &op.vmem_write})
      *sum *= share;
    step.ops.push_back(std::move(op));
  }
  return step;
}

std::vector<FrameworkOp> framework_ops(const DeviceOps& device) {
  std::map<std::pair<std::string, std::string>, FrameworkOp> by_name;
  for (const DeviceOp& op : device.ops) {
    std::string name = op.name, type = "Unknown";
    bool parameter = false;
    const std::string_view text = op.provenance;
    if (!text.empty() && text != ":") {
      const OpName parsed = parse_op_name(text);
      name = parsed.name;
      type = parsed.is_known() ? parsed.type : "Unknown";
      parameter = op.is_hlo && name.find('/') == std::string::npos && text.ends_with(':');
    }
    FrameworkOp& sum = by_name[{name, type}];
    sum.name = name;
    sum.type = type;
    sum.is_parameter |= parameter;
    sum.occurrences = std::max(sum.occurrences, op.occurrences);
    sum.time_ps += op.time_ps;
    sum.self_ps += op.self_ps;
    sum.flops += op.flops;
    sum.model_flops += op.model_flops;
    sum.bytes += op.bytes;
    sum.hbm_bytes += op.hbm_bytes;
    sum.eager |= op.eager;
  }
  std::vector<FrameworkOp> result;
  for (auto& [key, op] : by_name) result.push_back(std::move(op));
  return result;
}

}  // namespace sonde::capture
