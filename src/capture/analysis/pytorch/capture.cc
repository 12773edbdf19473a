#include "capture/analysis/pytorch/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "capture/analysis/pytorch/header.h"
#include "capture/analysis/pytorch/tree.h"

namespace sonde::capture::pytorch {
namespace {

// The device events whose launch the file holds, and those that only an external id ties to their
// operator.
void attribute(Capture& c) {
  boost::unordered_flat_map<int64_t, uint32_t> by_correlation;
  by_correlation.reserve(c.launches.size());
  for (uint32_t i = 0; i < c.launches.size(); ++i) {
    const Launch& launch = c.launches[i];
    if (launch.correlation == 0) continue;
    const auto [at, is_new] = by_correlation.try_emplace(launch.correlation, i);
    const Launch& known = c.launches[at->second];
    // A driver call inside a runtime call: the inner one is the launch.
    if (!is_new && launch.end - launch.begin < known.end - known.begin) at->second = i;
  }
  bool unmatched = false;
  for (DeviceEvent& event : c.device) {
    const auto correlation = c.trace.find(c.trace.args(event.slice), c.words.correlation);
    const auto found =
        correlation ? by_correlation.find(correlation->as_int()) : by_correlation.end();
    if (found == by_correlation.end()) {
      unmatched = true;
      continue;
    }
    event.launch = found->second;
    event.node = c.launches[found->second].node;
    ++c.launches[found->second].device_events;
  }
  if (!unmatched || c.words.external_id == trace::kNone) return;
  boost::unordered_flat_map<int64_t, uint32_t> by_external;  // kNone: several have the id
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    if (c.nodes[n].kind != Kind::kOperator) continue;
    const auto id = c.trace.find(c.trace.args(c.nodes[n].slice), c.words.external_id);
    if (!id || id->as_int() == 0) continue;
    const auto [at, is_new] = by_external.try_emplace(id->as_int(), n);
    if (!is_new) at->second = kNone;
  }
  for (DeviceEvent& event : c.device) {
    if (event.launch != kNone) continue;
    const auto id = c.trace.find(c.trace.args(event.slice), c.words.external_id);
    const auto correlation = c.trace.find(c.trace.args(event.slice), c.words.correlation);
    if (!id || (correlation && correlation->as_int() == id->as_int())) continue;
    const auto found = by_external.find(id->as_int());
    if (found == by_external.end() || found->second == kNone) continue;
    if (c.nodes[found->second].begin <= event.begin) event.node = found->second;
  }
}

bool is_communication_node(const Capture& c, uint32_t node) {
  for (int depth = 0; node != kNone && depth < 64; node = c.nodes[node].parent, ++depth) {
    const std::string_view name = c.name_of(c.nodes[node]);
    if (name == "record_param_comms" || is_collective_call(name) || name.starts_with("symm_mem::"))
      return true;
    if (c.nodes[node].kind != Kind::kOperator) return false;
  }
  return false;
}

void sum_device_time(Capture& c) {
  boost::unordered_flat_map<uint32_t, bool> asked;
  for (DeviceEvent& event : c.device) {
    if (event.kind == Kind::kKernel && !event.is_communication) {
      if (event.node != kNone) {
        const auto [at, is_new] = asked.try_emplace(event.node, false);
        if (is_new) at->second = is_communication_node(c, event.node);
        event.is_communication = at->second;
      }
      if (!event.is_communication && c.words.collective_name != trace::kNone)
        event.is_communication =
            c.trace.find(c.trace.args(event.slice), c.words.collective_name).has_value();
    }
    if (event.node == kNone) continue;
    Node& node = c.nodes[event.node];
    node.self_device_ps += event.duration();
    if (event.uses_tensor_cores) node.self_tensor_core_ps += event.duration();
  }
  for (size_t n = c.nodes.size(); n-- > 0;) {
    Node& node = c.nodes[n];
    if (node.merged) continue;
    node.device_ps += node.self_device_ps;
    node.tensor_core_ps += node.self_tensor_core_ps;
    if (node.kind == Kind::kOperator && node.self_tensor_core_ps > 0) node.eligible = true;
    if (node.parent == kNone) continue;
    Node& parent = c.nodes[node.parent];
    parent.device_ps += node.device_ps;
    parent.tensor_core_ps += node.tensor_core_ps;
    if (parent.kind == Kind::kOperator && node.eligible) parent.eligible = true;
  }
}

}  // namespace

Capture::Capture(const trace::Trace& t) : trace(t), words(t) {
  read_header(*this);
  collect(*this);
  attribute(*this);
  sum_device_time(*this);
  find_steps(*this);
}

std::string_view role_name(Role role) {
  constexpr std::string_view kNames[] = {"Kernel",  "Memcpy",     "Memset",   "Communication",
                                         "Runtime", "DataLoader", "CPU Exec", "Other"};
  return kNames[static_cast<size_t>(role)];
}

std::array<double, kRoleCount> Capture::average_us() const {
  std::array<double, kRoleCount> out{};
  if (steps.empty()) return out;
  for (size_t r = 0; r < kRoleCount; ++r) {
    int64_t sum = 0;
    for (const CaptureStep& step : steps) sum += step.cost[r];
    out[r] = static_cast<double>(sum) / 1e6 / static_cast<double>(steps.size());
  }
  return out;
}

double Capture::average_step_us() const {
  int64_t sum = 0;
  for (const CaptureStep& step : steps) sum += step.extent.length();
  return steps.empty() ? 0 : static_cast<double>(sum) / 1e6 / static_cast<double>(steps.size());
}

const DeviceInfo* Capture::device_info(int32_t device) const {
  if (devices.empty()) return nullptr;
  // ROCm numbers agents, CPUs included, while the header lists GPUs from 0: only a header whose
  // entries are all alike can be used there.
  if (is_rocm) {
    for (const DeviceInfo& info : devices) {
      if (info.name != devices[0].name || info.memory_bytes != devices[0].memory_bytes)
        return nullptr;
    }
    return &devices[0];
  }
  for (const DeviceInfo& info : devices) {
    if (info.id == device) return &info;
  }
  return nullptr;
}

std::string Capture::owner_of(const DeviceEvent& event) const {
  uint32_t node = event.node;
  while (node != kNone && nodes[node].kind == Kind::kModule) node = nodes[node].parent;
  if (node != kNone && nodes[node].kind != Kind::kStep) return std::string(name_of(nodes[node]));
  if (event.launch != kNone) {
    const Launch& launch = launches[event.launch];
    const bool is_graph = trace.name(launch.slice).find("GraphLaunch") != std::string_view::npos;
    if (launch.owner != kNone)
      return fmt::format("{}{}", trace.name(launch.owner), is_graph ? " [graph]" : "");
    if (node != kNone) return std::string(name_of(nodes[node]));
    if (is_graph) return "[graph]";
  }
  return "[no operator]";
}

std::string spaced_list(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 4);
  for (const char c : json) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    out += c;
    if (c == ',') out += ' ';
  }
  return out;
}

}  // namespace sonde::capture::pytorch
