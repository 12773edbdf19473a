#include "profile/device_rates.h"

#include <algorithm>

namespace sonde::profile {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string source_cell(const DeviceOp& op) {
  if (op.source.empty()) return {};
  return "<div class='source-info-cell' title='" + escaped(op.source_stack) + "'>" +
         escaped(op.source) + "</div>";
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
