#include "capture/import/step_stats/lanes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::imports {

bool has_overlaps(const DeviceStats& device) {
  std::vector<std::tuple<uint32_t, int64_t, int64_t>> spans;  // thread, begin, -end
  for (const NodeStats& node : device.nodes) {
    const int64_t begin = node.begin_in_ns(), length = node.duration_in_ns();
    const int64_t end = begin > INT64_MAX - length ? begin : begin + length;
    spans.emplace_back(node.thread, begin, -end);
  }
  std::sort(spans.begin(), spans.end());
  std::vector<int64_t> open;
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto& [thread, begin, negative_end] = spans[i];
    if (i > 0 && std::get<0>(spans[i - 1]) != thread) open.clear();
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty() && -negative_end > open.back()) return true;
    open.push_back(-negative_end);
  }
  return false;
}

std::vector<uint32_t> dense_lanes(const DeviceStats& device) {
  std::vector<uint32_t> order(device.nodes.size()), lanes(device.nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return device.nodes[a].begin_in_ns() < device.nodes[b].begin_in_ns();
  });
  std::map<int64_t, std::vector<uint32_t>> free;  // lanes by their end
  uint32_t used = 0;
  for (const uint32_t i : order) {
    const int64_t begin = device.nodes[i].begin_in_ns();
    const int64_t length = device.nodes[i].duration_in_ns();
    uint32_t lane = used;
    if (!free.empty() && free.begin()->first <= begin) {
      lane = free.begin()->second.back();
      free.begin()->second.pop_back();
      if (free.begin()->second.empty()) free.erase(free.begin());
    } else {
      ++used;
    }
    lanes[i] = lane;
    free[begin > INT64_MAX - length ? begin : begin + length].push_back(lane);
  }
  return lanes;
}

}  // namespace sonde::imports
