#include "capture/analysis/merged.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::capture {

HostOps merged_host_ops(const std::vector<const HostAnalysis*>& hosts) {
  if (hosts.size() == 1) return hosts[0]->host_ops();
  HostOps sum;
  std::map<std::string, HostOp> by_name;
  for (const HostAnalysis* host : hosts) {
    const HostOps& ops = host->host_ops();
    sum.idle_ps += ops.idle_ps;
    sum.busy_ps += ops.busy_ps;
    sum.infeed_ps += ops.infeed_ps;
    sum.infeed_gap_ps += ops.infeed_gap_ps;
    for (const HostOp& op : ops.ops) {
      HostOp& into =
          by_name.try_emplace(op.name, HostOp{op.name, op.type, 0, 0, 0, op.eager, op.is_stage})
              .first->second;
      into.occurrences += op.occurrences;
      into.time_ps += op.time_ps;
      into.self_ps += op.self_ps;
      into.eager |= op.eager;
    }
  }
  for (auto& [name, op] : by_name) sum.ops.push_back(std::move(op));
  return sum;
}

namespace {

class OpsSum {
 public:
  void add(const DeviceOps& device) {
    sum_.total_ps += device.total_ps;
    sum_.idle_ps += device.idle_ps;
    sum_.duty_window_ps += device.duty_window_ps;
    sum_.on_duty_ps += device.on_duty_ps;
    sum_.devices += device.devices;
    sum_.without_module += device.without_module;
    sum_.on_host |= device.on_host;
    for (const DeviceOp& op : device.ops) {
      const auto [at, added] = ids_.try_emplace({op.program_id, op.name}, sum_.ops.size());
      if (added) {
        sum_.ops.push_back(op);
        continue;
      }
      DeviceOp& into = sum_.ops[at->second];
      into.occurrences += op.occurrences;
      into.time_ps += op.time_ps;
      into.self_ps += op.self_ps;
      into.flops += op.flops;
      into.model_flops += op.model_flops;
      into.bytes += op.bytes;
      into.hbm_bytes += op.hbm_bytes;
      into.cmem_read += op.cmem_read, into.cmem_write += op.cmem_write;
      into.vmem_read += op.vmem_read, into.vmem_write += op.vmem_write;
      into.devices += op.devices;
      into.eager |= op.eager;
    }
  }
  DeviceOps take() { return std::move(sum_); }

 private:
  DeviceOps sum_;
  std::map<std::pair<uint64_t, std::string>, size_t> ids_;
};

}  // namespace

DeviceOps merged_device_ops(const std::vector<const HostAnalysis*>& hosts) {
  if (hosts.size() == 1) return hosts[0]->device_ops();
  OpsSum sum;
  for (const HostAnalysis* host : hosts) sum.add(host->device_ops());
  return sum.take();
}

DeviceOps merge_ops(const std::vector<DeviceOps>& parts) {
  OpsSum sum;
  for (const DeviceOps& part : parts) sum.add(part);
  return sum.take();
}

std::vector<FrameworkOp> merged_framework_ops(const std::vector<const HostAnalysis*>& hosts) {
  return framework_ops(merged_device_ops(hosts));
}

std::vector<Kernel> merged_kernels(const std::vector<const HostAnalysis*>& hosts) {
  if (hosts.size() == 1) return hosts[0]->kernels();
  const auto identity = [](const Kernel& k) {
    return std::make_tuple(k.name, k.op_name, k.launch.grid[0], k.launch.grid[1], k.launch.grid[2],
                           k.launch.block[0], k.launch.block[1], k.launch.block[2],
                           k.launch.registers, k.launch.static_shared, k.launch.dynamic_shared);
  };
  std::map<decltype(identity(std::declval<Kernel>())), Kernel> by_identity;
  for (const HostAnalysis* host : hosts) {
    for (const Kernel& kernel : host->kernels()) {
      const auto [at, added] = by_identity.try_emplace(identity(kernel), kernel);
      if (added) continue;
      at->second.occurrences += kernel.occurrences;
      at->second.total_ns += kernel.total_ns;
      at->second.min_ns = std::min(at->second.min_ns, kernel.min_ns);
      at->second.max_ns = std::max(at->second.max_ns, kernel.max_ns);
    }
  }
  std::vector<Kernel> merged;
  for (auto& [key, kernel] : by_identity) merged.push_back(std::move(kernel));
  std::stable_sort(merged.begin(), merged.end(),
                   [](const Kernel& a, const Kernel& b) { return a.total_ns > b.total_ns; });
  return merged;
}

const Machine& main_machine(const std::vector<const HostAnalysis*>& hosts) {
  for (const HostAnalysis* host : hosts) {
    if (host->words().has_device()) return host->machine();
  }
  return hosts.front()->machine();
}

uint32_t device_count(const std::vector<const HostAnalysis*>& hosts) {
  uint32_t count = 0;
  for (const HostAnalysis* host : hosts) count += host->machine().device_count;
  return count;
}

bool is_training(const std::vector<const HostAnalysis*>& hosts) {
  for (const HostAnalysis* host : hosts) {
    for (const DeviceOp& op : host->device_ops().ops) {
      const std::string_view text = op.provenance;
      if (text.find("gradient_tape") != std::string_view::npos ||
          text.find("gradients/") != std::string_view::npos ||
          text.find("transpose(") != std::string_view::npos) {
        return true;
      }
    }
  }
  return false;
}

void add_step_notes(const std::vector<const HostAnalysis*>& hosts, Report& report) {
  bool any = false;
  for (const HostAnalysis* host : hosts) {
    any |= !host->steps().steps.empty();
    const Grouping& grouping = host->grouping();
    if (!grouping.derived_rule.empty() && !host->steps().steps.empty()) {
      const std::string text = "steps: " + grouping.derived_rule;
      if (std::find(report.inferred.begin(), report.inferred.end(), text) == report.inferred.end())
        report.inferred.push_back(text);
    }
    for (const trace::Diagnostic& d : host->trace().diagnostics()) {
      report.diagnostics.push_back(
          {d.severity == trace::Diagnostic::Severity::kError ? "error" : "warning",
           host->host().name + ": " + d.text});
    }
    if (host->steps().dropped_without_work != 0) {
      report.diagnostics.push_back(
          {"info", fmt::format("{}: {} marked steps hold no {} and are not shown",
                               host->host().name, host->steps().dropped_without_work,
                               host->words().has_device() ? "device computation" : "host work")});
    }
  }
  if (any) return;
  report.diagnostics.push_back(
      {"warning",
       "no step was found: mark each step with tf.profiler.experimental.Trace('train', "
       "step_num=i, _r=1) or jax.profiler.StepTraceAnnotation('train', step_num=i), and capture "
       "at least two whole steps"});
}

}  // namespace sonde::capture
