#include "capture/analysis/pytorch/shared_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "capture/analysis/ops/data_sheets.h"
#include "capture/analysis/pytorch/operator_work.h"
#include "capture/analysis/pytorch/operators.h"

namespace sonde::capture::pytorch {
namespace {

using trace::SliceId;

int32_t step_at(const Capture& c, int64_t time) {
  const auto after =
      std::partition_point(c.steps.begin(), c.steps.end(),
                           [&](const CaptureStep& step) { return step.host.begin <= time; });
  if (after == c.steps.begin()) return Grouping::kNoGroup;
  const auto index = static_cast<int32_t>(after - c.steps.begin()) - 1;
  return time < c.steps[static_cast<size_t>(index)].host.end ? index : Grouping::kNoGroup;
}

bool is_low_precision(std::string_view name) {
  for (const std::string_view word : {"half", "fp16", "bf16", "bfloat16", "BFloat16", "Half", "_f8",
                                      "e4m3", "e5m2", "16816", "h884", "h1688"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

size_t copy_direction(std::string_view name) {
  if (name.find("HtoD") != std::string_view::npos) return 0;
  if (name.find("DtoH") != std::string_view::npos) return 1;
  return 2;
}

Work work_of(const Capture& c, const DeviceEvent& event) {
  constexpr Work kCopies[] = {Work::kHostToDevice, Work::kDeviceToHost, Work::kDeviceToDevice};
  if (event.kind == Kind::kMemcpy) return kCopies[copy_direction(c.trace.name(event.slice))];
  if (event.kind == Kind::kMemset) return Work::kDeviceToDevice;
  if (event.is_communication) return Work::kCollective;
  return is_low_precision(c.trace.name(event.slice)) ? Work::kCompute16 : Work::kCompute32;
}

void count_copies(const Capture& c, Steps& out) {
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kMemcpy || event.launch == kNone) continue;
    const int32_t step = step_at(c, c.launches[event.launch].begin);
    if (step < 0) continue;
    Step& into = out.steps[static_cast<size_t>(step)];
    const size_t way = copy_direction(c.trace.name(event.slice));
    ++into.copies[way];
    into.copy_ps[way] += event.duration();
    const auto bytes = c.trace.find(c.trace.args(event.slice), c.words.copy_bytes);
    if (bytes && bytes->is_number())
      into.copy_bytes[way] += static_cast<uint64_t>(std::max<int64_t>(0, bytes->as_int()));
  }
}

void read_dimensions(std::string_view list, uint32_t (&out)[3]) {
  size_t at = 0;
  for (uint32_t& value : out) {
    // Some files are written with every number on a line of its own.
    while (at < list.size() && (list[at] < '0' || list[at] > '9')) ++at;
    if (at >= list.size()) return;
    const auto result = std::from_chars(list.data() + at, list.data() + list.size(), value);
    if (result.ec != std::errc()) return;
    at = static_cast<size_t>(result.ptr - list.data());
  }
}

LaunchShape launch_shape(const Capture& c, SliceId s) {
  LaunchShape shape;
  const trace::ArgRange args = c.trace.args(s);
  for (uint32_t a = args.first; a < args.first + args.count; ++a) {
    const trace::Arg arg = c.trace.arg(a);
    if (arg.key == c.words.grid) read_dimensions(c.trace.text_of(arg.value), shape.grid);
    if (arg.key == c.words.block) read_dimensions(c.trace.text_of(arg.value), shape.block);
    if (!arg.value.is_number()) continue;
    if (arg.key == c.words.shared_memory)
      shape.dynamic_shared = static_cast<uint32_t>(arg.value.as_int());
    if (arg.key == c.words.registers) {
      shape.registers = static_cast<uint32_t>(arg.value.as_int());
      shape.has_registers = true;
    }
    if (arg.key == c.words.occupancy) {
      shape.occupancy_percent = arg.value.as_double();
      shape.has_occupancy = true;
    }
  }
  return shape;
}

}  // namespace

Grouping grouping_of(const Capture& c) {
  Grouping out;
  out.of.assign(c.trace.slice_count(), Grouping::kNoGroup);
  out.eager.assign(c.trace.slice_count(), 0);
  if (!c.steps_marked) out.derived_rule = "the whole capture, taken as one step";
  for (const CaptureStep& step : c.steps) {
    Group group;
    group.name = step.name;
    group.is_named = true;
    out.groups.push_back(std::move(group));
  }
  for (SliceId s = 0; s < c.trace.slice_count(); ++s) {
    const Kind kind = c.words.of(c.trace, s).kind;
    if (is_device(kind) || kind == Kind::kDeviceAnnotation || kind == Kind::kWindow) continue;
    const int32_t step = step_at(c, c.trace.begin(s).value);
    out.of[s] = step;
    if (kind == Kind::kStep && step >= 0) out.groups[static_cast<size_t>(step)].root = s;
  }
  for (const DeviceEvent& event : c.device) {
    if (event.launch != kNone) out.of[event.slice] = out.of[c.launches[event.launch].slice];
  }
  return out;
}

Steps steps_of(const Capture& c) {
  // In order of priority: a moment counts for the first that was active in it.
  constexpr Work kOrder[] = {Work::kCompute16,    Work::kCompute32,      Work::kHostToDevice,
                             Work::kDeviceToHost, Work::kDeviceToDevice, Work::kCollective,
                             Work::kLaunch,       Work::kWaitInput,      Work::kHostCompute};
  std::array<Ranges, kWorkCount> active;
  for (const DeviceEvent& event : c.device)
    append(active[static_cast<size_t>(work_of(c, event))], {event.begin, event.end});
  const auto add = [&](Role role, Work work) {
    Ranges& into = active[static_cast<size_t>(work)];
    const Ranges& from = c.role[static_cast<size_t>(role)];
    into.insert(into.end(), from.begin(), from.end());
  };
  add(Role::kCommunication, Work::kCollective);
  add(Role::kRuntime, Work::kLaunch);
  add(Role::kDataLoader, Work::kWaitInput);
  add(Role::kCpu, Work::kHostCompute);
  Steps out;
  Ranges free;
  for (size_t i = 0; i < c.steps.size(); ++i) {
    Step step;
    step.group = static_cast<int32_t>(i);
    step.name = c.steps[i].name;
    step.begin = c.steps[i].extent.begin;
    step.end = c.steps[i].extent.end;
    out.steps.push_back(std::move(step));
    free.push_back(c.steps[i].extent);
  }
  free = merged(std::move(free));
  const auto share_out = [&](const Ranges& ranges, Work work) {
    for (size_t i = 0; i < out.steps.size(); ++i) {
      const int64_t part = total_inside(ranges, c.steps[i].extent);
      out.steps[i].work[static_cast<size_t>(work)] = part;
      out.steps[i].segments[static_cast<size_t>(work)] = part;
    }
  };
  for (const Work work : kOrder) {
    const Ranges cost = intersection(merged(std::move(active[static_cast<size_t>(work)])), free);
    free = difference(free, cost);
    share_out(cost, work);
  }
  share_out(free, Work::kUnknown);
  count_copies(c, out);
  return out;
}

HostOps host_ops_of(const Capture& c) {
  HostOps out;
  for (const OperatorTotal& total : operator_totals(c, GroupBy::kName)) {
    HostOp op;
    op.name = total.name;
    op.type = total.name;
    op.occurrences = total.calls;
    op.time_ps = total.host_ps;
    op.self_ps = std::max<int64_t>(0, total.self_host_ps);
    out.busy_ps += op.self_ps;
    out.ops.push_back(std::move(op));
  }
  std::sort(out.ops.begin(), out.ops.end(),
            [](const HostOp& a, const HostOp& b) { return a.name < b.name; });
  return out;
}

namespace {

// What a call computes is done by the longest of the kernels under it: by index into the device's
// events.
std::map<size_t, OperatorWork> work_of_events(const Capture& c) {
  std::map<size_t, OperatorWork> out;
  const auto work = operator_work(c);
  if (work.empty()) return out;
  std::vector<uint32_t> around(c.nodes.size(), kNone);
  for (uint32_t i = 0; i < work.size(); ++i) around[work[i].node] = i;
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    const uint32_t parent = c.nodes[n].parent;
    if (around[n] == kNone && parent != kNone) around[n] = around[parent];
  }
  std::vector<size_t> longest(work.size(), SIZE_MAX);
  for (size_t e = 0; e < c.device.size(); ++e) {
    const DeviceEvent& event = c.device[e];
    if (event.kind != Kind::kKernel || event.node == kNone || around[event.node] == kNone) continue;
    size_t& most = longest[around[event.node]];
    if (most == SIZE_MAX || c.device[most].duration() < event.duration()) most = e;
  }
  for (size_t i = 0; i < work.size(); ++i) {
    if (longest[i] != SIZE_MAX) out.emplace(longest[i], work[i]);
  }
  return out;
}

}  // namespace

DeviceOps device_ops_of(const Capture& c) {
  DeviceOps out;
  std::map<std::pair<std::string, trace::StringId>, DeviceOp> by_name;
  std::map<int32_t, Ranges> busy;
  const auto work = work_of_events(c);
  for (size_t e = 0; e < c.device.size(); ++e) {
    const DeviceEvent& event = c.device[e];
    append(busy[event.device], {event.begin, event.end});
    std::string owner = c.owner_of(event);
    DeviceOp& op = by_name[{owner, c.trace.label(event.slice).name}];
    if (op.occurrences == 0) {
      op.name = fmt::format("{}/{}", owner, c.trace.name(event.slice));
      op.category = owner;
      op.provenance = fmt::format("{}:{}", owner, owner);
      op.devices = 1;
    }
    ++op.occurrences;
    op.time_ps += event.duration();
    op.self_ps += event.duration();
    op.min_ps = std::min(op.min_ps, event.duration());
    if (const auto known = work.find(e); known != work.end()) {
      op.flops += known->second.flops;
      op.model_flops += known->second.flops;
      op.bytes += known->second.bytes;
      op.hbm_bytes += known->second.bytes;
      op.flops_estimated = true;
    }
  }
  for (auto& [key, op] : by_name) out.ops.push_back(std::move(op));
  out.devices = static_cast<uint32_t>(busy.size());
  int64_t length = 0;
  if (!c.steps.empty()) length = c.steps.back().extent.end - c.steps.front().extent.begin;
  for (auto& [device, ranges] : busy) {
    out.total_ps += length;
    out.idle_ps += std::max<int64_t>(0, length - total(merged(std::move(ranges))));
  }
  return out;
}

std::vector<Kernel> kernels_of(const Capture& c) {
  using Key = std::tuple<trace::StringId, std::string, uint32_t, uint32_t, uint32_t, uint32_t,
                         uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Key, Kernel> found;
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel) continue;
    const LaunchShape shape = launch_shape(c, event.slice);
    std::string owner = c.owner_of(event);
    Kernel& kernel = found[{c.trace.label(event.slice).name, owner, shape.registers,
                            shape.dynamic_shared, shape.grid[0], shape.grid[1], shape.grid[2],
                            shape.block[0], shape.block[1], shape.block[2]}];
    if (kernel.occurrences == 0) {
      kernel.name = c.trace.name(event.slice);
      kernel.op_name = std::move(owner);
      kernel.launch = shape;
      kernel.uses_tensor_cores = event.uses_tensor_cores;
      kernel.eligible = event.node != kNone && c.nodes[event.node].eligible;
    }
    ++kernel.occurrences;
    const int64_t ns = event.duration() / 1000;
    kernel.total_ns += ns;
    kernel.min_ns = std::min(kernel.min_ns, ns);
    kernel.max_ns = std::max(kernel.max_ns, ns);
  }
  std::vector<Kernel> out;
  for (auto& [key, kernel] : found) out.push_back(std::move(kernel));
  std::stable_sort(out.begin(), out.end(), [](const Kernel& a, const Kernel& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return out;
}

Machine machine_of(const Capture& c) {
  Machine machine;
  machine.hardware_type = "CPU_ONLY";
  machine.device_type = "CPU";
  if (c.device.empty()) return machine;
  machine.hardware_type = "GPU";
  machine.device_type = "GPU";
  std::vector<int32_t> seen;
  for (const DeviceEvent& event : c.device) {
    if (std::find(seen.begin(), seen.end(), event.device) == seen.end())
      seen.push_back(event.device);
  }
  machine.device_count = static_cast<uint32_t>(seen.size());
  machine.is_amd = c.is_rocm;
  machine.has_vendor = !c.devices.empty();
  const DeviceInfo* info = c.device_info(seen.front());
  if (!info) return machine;
  machine.device_type = info->name;
  machine.multiprocessors = info->multiprocessors;
  machine.memory_bytes = info->memory_bytes;
  machine.peaks = data_sheet_peaks(info->name);
  if (!c.is_rocm) {
    machine.compute_major = info->major;
    machine.compute_minor = info->minor;
  }
  return machine;
}

}  // namespace sonde::capture::pytorch
