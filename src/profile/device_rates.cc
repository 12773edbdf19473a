#include "profile/device_rates.h"

#include <algorithm>

#include "base/html.h"

namespace sonde::profile {

std::string source_cell(const DeviceOp& op) {
  if (op.source.empty()) return {};
  return "<div class='source-info-cell' title='" + html_escaped(op.source_stack) + "'>" +
         html_escaped(op.source) + "</div>";
}

std::vector<const DeviceOp*> by_self_time(const DeviceOps& device) {
  std::vector<const DeviceOp*> order;
  for (const DeviceOp& op : device.ops) order.push_back(&op);
  std::stable_sort(order.begin(), order.end(), [](const DeviceOp* a, const DeviceOp* b) {
    return a->self_ps != b->self_ps ? a->self_ps > b->self_ps : a->name < b->name;
  });
  return order;
}

std::string missing_device_ops(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (!host->device_ops().ops.empty()) return {};
  }
  return "no operation of a compiled program (XLA) and no device op in this capture";
}

}  // namespace sonde::profile
