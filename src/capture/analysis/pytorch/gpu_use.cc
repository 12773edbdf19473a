#include "capture/analysis/pytorch/gpu_use.h"

#include <algorithm>
#include <map>

namespace sonde::capture::pytorch {
namespace {

// Where several kernels run at once their blocks add up; a multiprocessor is in use or not, so the
// sum counts at most as one.
struct Edge {
  int64_t time;
  double blocks;  // negative: an end
};

double integrated(std::vector<Edge> edges, Range window) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time < b.time; });
  double blocks = 0, sum = 0;
  int64_t last = window.begin;
  for (const Edge& edge : edges) {
    const int64_t now = std::clamp(edge.time, window.begin, window.end);
    if (now > last) sum += std::min(1.0, std::max(0.0, blocks)) * static_cast<double>(now - last);
    last = std::max(last, now);
    blocks += edge.blocks;
  }
  return sum;
}

struct Sums {
  Ranges busy;
  std::vector<Edge> edges;
  double occupancy = 0, occupancy_ps = 0, tensor_ps = 0, kernel_ps = 0;
};

std::optional<double> number(const Capture& c, trace::SliceId s, trace::KeyId key) {
  const auto value = c.trace.find(c.trace.args(s), key);
  if (!value || !value->is_number()) return std::nullopt;
  return value->as_double();
}

}  // namespace

std::vector<GpuUse> gpu_use(const Capture& c) {
  std::vector<GpuUse> out;
  if (c.steps.empty()) return out;
  const Range window{c.steps.front().extent.begin, c.steps.back().extent.end};
  const double length = static_cast<double>(std::max<int64_t>(1, window.length()));
  std::map<int32_t, Sums> devices;
  bool any_owned = false;
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel) continue;
    Sums& sums = devices[event.device];
    append(sums.busy, {event.begin, event.end});
    if (const auto blocks = number(c, event.slice, c.words.blocks_per_sm); blocks && *blocks > 0) {
      sums.edges.push_back({event.begin, *blocks});
      sums.edges.push_back({event.end, -*blocks});
    }
    const double inside =
        static_cast<double>(std::min(event.end, window.end) - std::max(event.begin, window.begin));
    if (const auto value = number(c, event.slice, c.words.occupancy);
        value && *value >= 0 && inside > 0) {
      sums.occupancy += *value * inside;
      sums.occupancy_ps += inside;
    }
    if (event.node == kNone || c.nodes[event.node].kind != Kind::kOperator) continue;
    any_owned = true;
    sums.kernel_ps += static_cast<double>(event.duration());
    if (event.uses_tensor_cores) sums.tensor_ps += static_cast<double>(event.duration());
  }
  for (auto& [device, sums] : devices) {
    GpuUse use;
    use.device = device;
    use.utilization =
        static_cast<double>(total_inside(merged(std::move(sums.busy)), window)) / length;
    if (!sums.edges.empty()) use.sm_efficiency = integrated(std::move(sums.edges), window) / length;
    if (sums.occupancy_ps > 0) use.occupancy = sums.occupancy / sums.occupancy_ps;
    if (any_owned) use.tensor_cores = sums.kernel_ps > 0 ? sums.tensor_ps / sums.kernel_ps : 0.0;
    out.push_back(use);
  }
  return out;
}

double eligible_share(const Capture& c) {
  // A node is at the bottom when none below it is eligible.
  std::vector<uint8_t> covered(c.nodes.size(), 0);
  for (size_t n = c.nodes.size(); n-- > 0;) {
    const Node& node = c.nodes[n];
    if (node.parent != kNone && (covered[n] || node.eligible)) covered[node.parent] = 1;
  }
  double eligible = 0, all = 0;
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel || event.node == kNone) continue;
    const double ps = static_cast<double>(event.duration());
    all += ps;
    if (c.nodes[event.node].eligible && !covered[event.node]) eligible += ps;
  }
  return all > 0 ? eligible / all : 0;
}

double tensor_core_share(const Capture& c) {
  double used = 0, all = 0;
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel) continue;
    all += static_cast<double>(event.duration());
    if (event.uses_tensor_cores) used += static_cast<double>(event.duration());
  }
  return all > 0 ? used / all : 0;
}

}  // namespace sonde::capture::pytorch
