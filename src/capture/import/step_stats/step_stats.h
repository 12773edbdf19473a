// TensorFlow's StepStats, the record of one Session.run: per device the nodes that ran with their
// times, outputs and memory. Decoded as it is in the file; what the times mean is decided by who
// reads it (the importer of this folder, or `sonde timeline --compat tf`).
//
//   RunMetadata      1 step_stats, 2 cost_graph, 3 partition_graphs, 4 function_graphs
//   StepStats        1 dev_stats
//   DeviceStepStats  1 device, 2 node_stats, 3 thread_names {1 id, 2 name}
//   NodeExecStats    1 node_name, 2 all_start_us, 3 op_start_rel_us, 4 op_end_rel_us,
//                    5 all_end_rel_us, 6 memory, 7 output, 8 timeline_label, 9 scheduled_us,
//                    10 thread_id, 13 all_start_ns, 14 op_start_rel_ns, 15 op_end_rel_ns,
//                    16 all_end_rel_ns, 17 scheduled_ns
//   NodeOutput       1 slot, 3 tensor_description {4 allocation_description {1 requested_bytes,
//                    3 allocator_name}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "capture/import/page_releaser.h"

namespace sonde::imports {

struct NodeOutput {
  Bytes description;  // TensorDescription
  std::string_view allocator;
  int64_t requested_bytes = 0;
};

// Captures hold millions of nodes: only what every reader asks for is kept decoded.
struct NodeStats {
  std::string_view name, label;
  Bytes message;                     // NodeExecStats
  int64_t start_us = 0, end_us = 0;  // the end: relative
  int64_t start_ns = 0, end_ns = 0;  // 0 = absent
  uint32_t thread = 0;

  int64_t end_at_us() const;  // start_us + end_us; wraps around on hostile numbers
  // In nanoseconds, from the finer fields where the file has them.
  int64_t begin_in_ns() const;
  int64_t duration_in_ns() const;
};

// The rest of a node, decoded when asked for.
struct NodeDetails {
  int64_t op_start_us = 0, op_end_us = 0, scheduled_us = 0;  // the first two: relative
  int64_t allocator_bytes = 0, peak_bytes = 0;               // sums over the allocators of `memory`
  std::vector<NodeOutput> outputs;
  bool cut = false;  // the message ends early or is damaged

  void read(const NodeStats& node);  // replaces what was there
};

struct DeviceStats {
  std::string_view device;
  std::vector<NodeStats> nodes;
  std::vector<std::pair<uint32_t, std::string_view>> threads;
};

// Views point into the bytes that were decoded.
struct StepStats {
  std::vector<DeviceStats> devices;
  bool cut = false;      // the bytes end early or are damaged; what could be read is here
  uint64_t damaged = 0;  // nodes of which a part could not be decoded

  size_t node_count() const;
};

// Whether the bytes begin like a StepStats or a RunMetadata that holds one.
enum class StepStatsForm : uint8_t { kNone, kStepStats, kRunMetadata };
StepStatsForm step_stats_form(Bytes head);

// Of either form; empty when the bytes hold no step statistics.
StepStats decode_step_stats(Bytes message, const PartRead& part_read = {});

// What a node's label says: `name = Op(in, in)` of an executor, `text@@op#…` of a GPU tracer.
struct NodeLabel {
  std::string_view name, op;  // op: "unknown" where the label tells none
  std::vector<std::string_view> inputs;
};
bool is_gpu_trace(std::string_view device);
NodeLabel parse_label(const NodeStats& node, bool is_gpu_trace);

// The lane of each node when lanes are packed as TensorFlow does: the first whose last node ended
// strictly before this one begins. Times in microseconds as in the file.
std::vector<uint32_t> packed_lanes(const DeviceStats& device);

// Which time an op on a device with kernels of its own gets.
enum class OpTime : uint8_t {
  kSchedule,  // as recorded: launching it
  kGpu,       // its kernels
  kAll,       // from launch to the end of its kernels
};
// Changes start and end of ops that have kernels on a `/stream:all` device.
void apply_op_time(StepStats& stats, OpTime op_time);

}  // namespace sonde::imports
