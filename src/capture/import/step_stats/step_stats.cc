#include "capture/import/step_stats/step_stats.h"

#include <algorithm>
#include <map>

#include "capture/import/salvage.h"

namespace sonde::imports {
namespace {

bool is_text(std::string_view text) {
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
}

int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void read_output(Bytes message, NodeOutput& output, bool& cut) {
  walk_fields(message, cut, [&](const wire::Field& f) {
    if (f.number != 3 || !f.is_bytes()) return;
    output.description = f.bytes;
    walk_fields(f.bytes, cut, [&](const wire::Field& d) {
      if (d.number != 4 || !d.is_bytes()) return;
      walk_fields(d.bytes, cut, [&](const wire::Field& a) {
        if (a.number == 1 && !a.is_bytes()) output.requested_bytes = a.as_int();
        if (a.number == 3 && a.is_bytes()) output.allocator = a.text();
      });
    });
  });
}

void read_memory(Bytes message, NodeDetails& details) {
  walk_fields(message, details.cut, [&](const wire::Field& f) {
    if (f.is_bytes()) return;
    if (f.number == 2) details.allocator_bytes = wrapped_sum(details.allocator_bytes, f.as_int());
    if (f.number == 3) details.peak_bytes = wrapped_sum(details.peak_bytes, f.as_int());
  });
}

NodeStats node_in(Bytes message) {
  NodeStats node;
  node.message = message;
  bool cut = false;
  walk_fields(message, cut, [&](const wire::Field& f) {
    if (f.is_bytes()) {
      if (f.number == 1) node.name = f.text();
      if (f.number == 8) node.label = f.text();
      return;
    }
    if (f.number == 2) node.start_us = f.as_int();
    if (f.number == 5) node.end_us = f.as_int();
    if (f.number == 10) node.thread = static_cast<uint32_t>(f.bits);
    if (f.number == 13) node.start_ns = f.as_int();
    if (f.number == 16) node.end_ns = f.as_int();
  });
  return node;
}

size_t nodes_in(Bytes device) {
  size_t count = 0;
  bool cut = false;
  walk_fields(device, cut, [&](const wire::Field& f) { count += f.number == 2 && f.is_bytes(); });
  return count;
}

void read_device(Bytes message, StepStats& stats, const PartRead& part_read) {
  DeviceStats device;
  device.nodes.reserve(nodes_in(message));
  NodeDetails details;
  PageReleaser trail(part_read, message);
  walk_fields(message, stats.cut, [&](const wire::Field& f) {
    if (!f.is_bytes()) return;
    trail.reached(f.bytes.data());
    if (f.number == 1) device.device = f.text();
    if (f.number == 2) {
      device.nodes.push_back(node_in(f.bytes));
      details.read(device.nodes.back());
      stats.damaged += details.cut;
    }
    if (f.number == 3) {
      std::pair<uint32_t, std::string_view> entry{0, {}};
      walk_fields(f.bytes, stats.cut, [&](const wire::Field& t) {
        if (t.number == 1 && !t.is_bytes()) entry.first = static_cast<uint32_t>(t.bits);
        if (t.number == 2 && t.is_bytes()) entry.second = t.text();
      });
      device.threads.push_back(entry);
    }
  });
  trail.finish(message.data() + message.size());
  if (!device.device.empty() || !device.nodes.empty()) stats.devices.push_back(std::move(device));
}

// The first bytes field with that number; nothing when another field comes before it.
std::optional<Bytes> leading(Bytes message, uint32_t number) {
  std::optional<Bytes> found;
  bool cut = false, first = true;
  walk_fields(message, cut, [&](const wire::Field& f) {
    if (first && f.number == number && f.is_bytes()) found = f.bytes;
    first = false;
  });
  return found;
}

// The ends of lanes as a tree of minima, so that a file of overlapping nodes costs n log n.
class LaneEnds {
 public:
  uint32_t place(int64_t start, int64_t end) {
    uint32_t lane = used_;
    if (least_[1] < start) {
      for (lane = 1; lane < leaves_;) lane = 2 * lane + (least_[2 * lane] < start ? 0 : 1);
      lane -= leaves_;
    }
    used_ = std::max(used_, lane + 1);
    if (used_ == leaves_) grow();
    set(lane, end);
    return lane;
  }

 private:
  // Lanes that are not open yet count as occupied for ever.
  void grow() {
    std::vector<int64_t> ends(least_.begin() + leaves_, least_.end());
    leaves_ *= 2;
    least_.assign(2 * leaves_, INT64_MAX);
    for (uint32_t i = 0; i < ends.size(); ++i) set(i, ends[i]);
  }
  void set(uint32_t lane, int64_t end) {
    least_[leaves_ + lane] = end;
    for (uint32_t at = (leaves_ + lane) / 2; at > 0; at /= 2)
      least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
  }

  uint32_t leaves_ = 2, used_ = 1;
  std::vector<int64_t> least_{0, 0, 0, INT64_MAX};  // lane 0 is open from time 0 on
};

// Nonsense that does not fit counts as nothing.
int64_t ns_of(int64_t us) {
  return us > INT64_MAX / 1000 || us < -INT64_MAX / 1000 ? 0 : us * 1000;
}

}  // namespace

int64_t NodeStats::end_at_us() const { return wrapped_sum(start_us, end_us); }

int64_t NodeStats::begin_in_ns() const { return start_ns != 0 ? start_ns : ns_of(start_us); }

int64_t NodeStats::duration_in_ns() const {
  return std::max<int64_t>(0, end_ns != 0 ? end_ns : ns_of(end_us));
}

void NodeDetails::read(const NodeStats& node) {
  op_start_us = op_end_us = scheduled_us = allocator_bytes = peak_bytes = 0;
  outputs.clear();
  cut = false;
  walk_fields(node.message, cut, [&](const wire::Field& f) {
    if (f.is_bytes()) {
      if (f.number == 6) read_memory(f.bytes, *this);
      if (f.number == 7) read_output(f.bytes, outputs.emplace_back(), cut);
      return;
    }
    if (f.number == 3) op_start_us = f.as_int();
    if (f.number == 4) op_end_us = f.as_int();
    if (f.number == 9) scheduled_us = f.as_int();
  });
}

size_t StepStats::node_count() const {
  size_t count = 0;
  for (const DeviceStats& device : devices) count += device.nodes.size();
  return count;
}

StepStatsForm step_stats_form(Bytes head) {
  const auto first = leading(head, 1);
  if (!first) return StepStatsForm::kNone;
  const auto second = leading(*first, 1);
  if (!second) return StepStatsForm::kNone;
  // A device's name is text; a serialized message begins with a control character.
  const std::string_view name = as_text(*second);
  if (is_text(name) && (name[0] == '/' || name.find(':') != std::string_view::npos))
    return StepStatsForm::kStepStats;
  const auto third = leading(*second, 1);
  return third && is_text(as_text(*third)) ? StepStatsForm::kRunMetadata : StepStatsForm::kNone;
}

StepStats decode_step_stats(Bytes message, const PartRead& part_read) {
  StepStats stats;
  const auto read_all = [&](Bytes step_stats) {
    walk_fields(step_stats, stats.cut, [&](const wire::Field& f) {
      if (f.number == 1 && f.is_bytes()) read_device(f.bytes, stats, part_read);
    });
  };
  switch (step_stats_form(message)) {
    case StepStatsForm::kNone:
      break;
    case StepStatsForm::kStepStats:
      read_all(message);
      break;
    case StepStatsForm::kRunMetadata:
      walk_fields(message, stats.cut, [&](const wire::Field& f) {
        if (f.number == 1 && f.is_bytes()) read_all(f.bytes);
      });
      break;
  }
  return stats;
}

bool is_gpu_trace(std::string_view device) {
  return device.find("/stream:") != std::string_view::npos ||
         device.find("/memcpy") != std::string_view::npos;
}

NodeLabel parse_label(const NodeStats& node, bool is_gpu_trace) {
  NodeLabel label{node.name, "unknown", {}};
  if (is_gpu_trace) {
    const size_t start = node.label.find("@@"), end = node.label.find('#');
    if (start != std::string_view::npos && end != std::string_view::npos && start + 2 < end)
      label.name = node.label.substr(start + 2, end - start - 2);
    const size_t colon = label.name.find(':');
    if (colon == std::string_view::npos) return label;
    label.op = label.name.substr(colon + 1);
    label.op = label.op.substr(0, label.op.find(':'));
    label.name = label.name.substr(0, colon);
    return label;
  }
  if (node.name == "RecvTensor") {
    label.op = "RecvTensor";
    return label;
  }
  // (.*) = (.*)\((.*)\), each as long as possible, in the first line.
  const std::string_view line = node.label.substr(0, node.label.find('\n'));
  const size_t close = line.rfind(')');
  const size_t open = close == std::string_view::npos || close == 0 ? std::string_view::npos
                                                                    : line.rfind('(', close - 1);
  if (open == std::string_view::npos || open < 3) return label;
  const size_t equals = line.rfind(" = ", open - 3);
  if (equals == std::string_view::npos) return label;
  label.op = line.substr(equals + 3, open - equals - 3);
  std::string_view inputs = line.substr(open + 1, close - open - 1);
  while (!inputs.empty()) {
    const size_t comma = inputs.find(", ");
    label.inputs.push_back(inputs.substr(0, comma));
    if (comma == std::string_view::npos) break;
    inputs.remove_prefix(comma + 2);
    if (inputs.empty()) label.inputs.push_back(inputs);
  }
  return label;
}

std::vector<uint32_t> packed_lanes(const DeviceStats& device) {
  std::vector<uint32_t> lanes;
  lanes.reserve(device.nodes.size());
  LaneEnds ends;
  for (const NodeStats& node : device.nodes)
    lanes.push_back(ends.place(node.start_us, node.end_at_us()));
  return lanes;
}

void apply_op_time(StepStats& stats, OpTime op_time) {
  if (op_time == OpTime::kSchedule) return;
  std::map<std::string_view, std::pair<int64_t, int64_t>> kernels;  // by op: first start, last end
  for (const DeviceStats& device : stats.devices) {
    if (device.device.find("/stream:all") == std::string_view::npos) continue;
    for (const NodeStats& kernel : device.nodes) {
      const int64_t start = kernel.start_us, end = kernel.end_at_us();
      const auto [found, added] = kernels.try_emplace(parse_label(kernel, true).name, start, end);
      found->second.first = std::min(found->second.first, start);
      found->second.second = std::max(found->second.second, end);
    }
  }
  for (DeviceStats& device : stats.devices) {
    if (device.device.find("/stream:all") != std::string_view::npos ||
        device.device.find("/job") == std::string_view::npos)
      continue;
    for (NodeStats& node : device.nodes) {
      const auto found = kernels.find(node.name);
      if (found == kernels.end()) continue;
      const int64_t end = std::max(found->second.second, node.end_at_us());
      if (op_time == OpTime::kGpu) node.start_us = found->second.first;
      node.end_us =
          static_cast<int64_t>(static_cast<uint64_t>(end) - static_cast<uint64_t>(node.start_us));
      node.start_ns = node.end_ns = 0;  // the finer times are those of the launch
    }
  }
}

}  // namespace sonde::imports
