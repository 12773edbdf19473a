#include "capture/analysis/pytorch/breakdown.h"

#include <algorithm>

namespace sonde::capture::pytorch {
namespace {

bool computes(const DeviceEvent& event) {
  return event.kind == Kind::kKernel && !event.is_communication;
}

}  // namespace

TemporalBreakdown temporal_breakdown(const Capture& c) {
  TemporalBreakdown out;
  Ranges busy, compute;
  int64_t end = INT64_MIN;
  for (const DeviceEvent& event : c.device) {
    append(busy, {event.begin, event.end});
    if (computes(event)) append(compute, {event.begin, event.end});
    end = std::max(end, event.end);
  }
  if (c.device.empty()) return out;
  out.total_ps = end - c.device.front().begin;
  const int64_t busy_ps = total(merged(std::move(busy)));
  out.compute_ps = total(merged(std::move(compute)));
  out.idle_ps = out.total_ps - busy_ps;
  out.non_compute_ps = busy_ps - out.compute_ps;
  return out;
}

std::vector<IdleCauses> idle_causes(const Capture& c) {
  std::map<std::pair<int32_t, int64_t>, std::pair<int64_t, IdleCauses>> streams;
  for (const DeviceEvent& event : c.device) {
    const auto [at, is_new] = streams.try_emplace({event.device, event.stream});
    auto& [last_end, idle] = at->second;
    if (is_new) {
      idle.device = event.device;
      idle.stream = event.stream;
    } else if (event.begin > last_end) {
      const int64_t gap = event.begin - last_end;
      const bool host_was_late = event.launch != kNone && c.launches[event.launch].begin > last_end;
      if (host_was_late) {
        idle.host_wait_ps += gap;
      } else if (gap < kConsecutiveKernelPs) {
        idle.kernel_wait_ps += gap;
      } else {
        idle.other_ps += gap;
      }
    }
    last_end = is_new ? event.end : std::max(last_end, event.end);
  }
  std::vector<IdleCauses> out;
  for (const auto& [key, entry] : streams) out.push_back(entry.second);
  return out;
}

CommunicationOverlap communication_overlap(const Capture& c) {
  Ranges communication, compute;
  for (const DeviceEvent& event : c.device) {
    if (event.is_communication) append(communication, {event.begin, event.end});
    if (computes(event)) append(compute, {event.begin, event.end});
  }
  communication = merged(std::move(communication));
  return {total(communication), total(intersection(communication, merged(std::move(compute))))};
}

std::vector<LaunchStatistics> launch_statistics(const Capture& c) {
  std::map<std::string_view, LaunchStatistics> by_name;
  for (const DeviceEvent& event : c.device) {
    if (event.launch == kNone) continue;
    const Launch& launch = c.launches[event.launch];
    LaunchStatistics& s = by_name[c.trace.name(launch.slice)];
    const int64_t host = launch.end - launch.begin;
    const int64_t delay = std::max<int64_t>(0, event.begin - launch.end);
    ++s.launches;
    s.host_ps += host;
    s.device_ps += event.duration();
    s.delay_ps += delay;
    s.longest_delay_ps = std::max(s.longest_delay_ps, delay);
    s.short_kernels += event.duration() < host;
    s.slow_calls += host > kSlowCallPicos;
    s.long_delays += delay > kLongDelayPicos;
  }
  std::vector<LaunchStatistics> out;
  for (auto& [name, s] : by_name) {
    s.name = name;
    out.push_back(std::move(s));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.launches > b.launches; });
  return out;
}

}  // namespace sonde::capture::pytorch
