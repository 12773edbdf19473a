// Steps of a PyTorch capture. A step is its annotation on the host, extended to the end of the
// device work launched inside it; it begins no earlier than the one before it ends, so that a
// device running behind the host is counted once. Every moment of a step belongs to one role: the
// first of the list that was active.
#include <algorithm>

#include "capture/analysis/pytorch/tree.h"

namespace sonde::capture::pytorch {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

std::vector<CaptureStep> marked_steps(const Capture& c) {
  std::vector<CaptureStep> steps;
  for (const Node& node : c.nodes) {
    if (node.kind != Kind::kStep) continue;
    CaptureStep step;
    step.name = std::string(c.name_of(node).substr(kStepPrefix.size()));
    step.host = step.extent = {node.begin, node.end};
    steps.push_back(std::move(step));
  }
  std::stable_sort(steps.begin(), steps.end(), [](const CaptureStep& a, const CaptureStep& b) {
    return a.host.begin < b.host.begin;
  });
  return steps;
}

// Without marks the whole capture is one step.
CaptureStep whole_capture(const Capture& c) {
  Range all{INT64_MAX, INT64_MIN};
  for (const Role role : {Role::kDataLoader, Role::kCpu, Role::kCommunication}) {
    for (const Range& range : c.role[static_cast<size_t>(role)]) {
      all.begin = std::min(all.begin, range.begin);
      all.end = std::max(all.end, range.end);
    }
  }
  if (all.begin > all.end) {
    for (const DeviceEvent& event : c.device) {
      all.begin = std::min(all.begin, event.begin);
      all.end = std::max(all.end, event.end);
    }
  }
  CaptureStep step;
  step.name = "0";
  if (all.begin <= all.end) step.host = step.extent = all;
  return step;
}

struct DeviceSpan {
  int64_t begin = INT64_MAX, end = INT64_MIN;
};

void extend_by_device(Capture& c) {
  std::vector<DeviceSpan> spans(c.steps.size());
  std::vector<uint8_t> inside(c.device.size(), 0);
  bool any = false;
  for (size_t d = 0; d < c.device.size(); ++d) {
    const DeviceEvent& event = c.device[d];
    if (event.launch == kNone) continue;
    const Launch& launch = c.launches[event.launch];
    const auto after = std::partition_point(
        c.steps.begin(), c.steps.end(),
        [&](const CaptureStep& step) { return step.host.begin <= launch.begin; });
    if (after == c.steps.begin()) continue;
    const auto index = static_cast<size_t>(after - c.steps.begin()) - 1;
    if (launch.end > c.steps[index].host.end) continue;
    spans[index].begin = std::min(spans[index].begin, event.begin);
    spans[index].end = std::max(spans[index].end, event.end);
    ++c.steps[index].device_events;
    inside[d] = 1;
    any = true;
  }
  if (!any) return;
  int64_t previous = c.steps[0].host.begin;
  if (spans[0].begin != INT64_MAX) {
    for (size_t d = 0; d < c.device.size(); ++d) {
      if (!inside[d] && c.device[d].end < spans[0].begin)
        previous = std::max(previous, c.device[d].end);
    }
  }
  for (size_t i = 0; i < c.steps.size(); ++i) {
    Range& extent = c.steps[i].extent;
    extent.begin = std::max(previous, c.steps[i].host.begin);
    extent.end = std::max({c.steps[i].host.end, spans[i].end, extent.begin});
    previous = extent.end;
  }
  if (c.steps.size() < 2) return;
  size_t last = c.steps.size();
  while (last > 0 && c.steps[last - 1].device_events == 0) --last;
  if (last == 0) return;
  if (last > 1 && c.steps[last - 1].device_events * 10 < c.steps[last - 2].device_events * 8)
    --last;
  c.dropped_steps = static_cast<uint32_t>(c.steps.size() - last);
  c.steps.resize(last);
}

void share_out(Capture& c) {
  Ranges free;
  for (const CaptureStep& step : c.steps) free.push_back(step.extent);
  free = merged(std::move(free));
  for (size_t r = 0; r < kRoleCount; ++r) {
    const bool is_rest = r == static_cast<size_t>(Role::kOther);
    const Ranges cost = is_rest ? free : intersection(c.role[r], free);
    if (!is_rest) free = difference(free, cost);
    for (CaptureStep& step : c.steps) step.cost[r] = total_inside(cost, step.extent);
  }
}

}  // namespace

void find_steps(Capture& c) {
  for (const DeviceEvent& event : c.device) {
    Role role = event.kind == Kind::kMemcpy   ? Role::kMemcpy
                : event.kind == Kind::kMemset ? Role::kMemset
                                              : Role::kKernel;
    if (event.is_communication) role = Role::kCommunication;
    c.has_kernels |= event.kind == Kind::kKernel;
    append(c.role[static_cast<size_t>(role)], {event.begin, event.end});
  }
  for (Ranges& ranges : c.role) ranges = merged(std::move(ranges));
  c.operators = merged(std::move(c.operators));
  c.has_gpu = !c.device.empty() || !c.launches.empty();
  c.has_communication = !c.role[static_cast<size_t>(Role::kCommunication)].empty();
  c.steps = marked_steps(c);
  c.steps_marked = !c.steps.empty();
  if (!c.steps_marked) {
    CaptureStep whole = whole_capture(c);
    if (whole.host.length() > 0) c.steps.push_back(std::move(whole));
  }
  if (c.steps.empty()) return;
  extend_by_device(c);
  share_out(c);
}

}  // namespace sonde::capture::pytorch
