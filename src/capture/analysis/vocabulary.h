// The words of one trace resolved to numbers once: argument keys, and for every label what kind of
// event it is and how its name parses. Per-slice work is then array lookups.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/op_name.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

// Host events with a meaning for grouping and the tools.
enum class HostEvent : uint8_t {
  kUnknown,
  kTraceContext,
  kSessionRun,
  kFunctionRun,
  kRunGraph,
  kExecutorProcess,  // ExecutorState::Process
  kEagerExecute,
  kCapturedFunction,  // InstantiatedCapturedFunction::*
  kIteratorGetNext,
  kIteratorGetNextAsOptional,
  kIterator,           // any Iterator::…
  kPrefetchGenerator,  // Iterator::Prefetch::Generator
  kProduce,
  kConsume,
  kMemoryAllocation,
  kMemoryDeallocation,
  kBatchingSessionRun,
  kProcessBatch,
  kTfOp,  // a name of the form op:Type
  kThreadpool,
};

struct LabelInfo {
  HostEvent event = HostEvent::kUnknown;
  bool is_loop = false;  // TFRT loops: grouping is off
  OpName op;             // of the label's name; views into the trace
};

struct Keys {
  trace::KeyId root, async, producer_type, producer_id, consumer_type, consumer_id, consumer_pid;
  trace::KeyId id, iter_num, step_num, graph_type, group_id, step_name, is_eager, is_func;
  trace::KeyId correlation_id, device_id, kernel_details, memcpy_details, tf_op, level0, name;
  trace::KeyId hlo_op, hlo_module, program_id, shape, equation, tf_function_call, tracing_count;
  trace::KeyId parent_id, element_id, stage_id, stage_name, stage_category, eager_op;
  trace::KeyId allocator_name, device_ordinal, index_on_host, bytes_reserved, bytes_allocated,
      bytes_available, peak_bytes, requested_bytes, allocation_bytes, address, fragmentation,
      region_type, data_type, tensor_shapes;
  trace::KeyId flops, model_flops, bytes_accessed, hlo_category, symbol_id, device_offset,
      device_duration, time_scale, memory_breakdown, deduplicated_name, source, source_stack,
      cuda_graph_exec_id, module_name, run_id, raw_bytes_accessed, theoretical_occupancy;

  explicit Keys(const trace::Trace& trace);
};

enum class PlaneKind : uint8_t { kOther, kHost, kGpu, kTpu, kCustom, kMetadata };

struct Vocabulary {
  explicit Vocabulary(const trace::Trace& trace);

  Keys key;
  std::vector<LabelInfo> labels;  // by LabelId
  std::vector<PlaneKind> planes;  // by TrackId of a process; kOther for other tracks
  std::vector<trace::TrackId> host_planes, gpu_planes, tpu_planes;
  std::vector<bool> derived;  // by TrackId: lines made by an earlier preprocessing
  bool has_loops = false;
  bool has_group_ids = false;  // the producer has grouped already

  bool has_device() const { return !gpu_planes.empty() || !tpu_planes.empty(); }
};

// Tracks of a process that hold slices on the time axis, in order.
std::vector<trace::TrackId> lines_of(const trace::Trace& trace, trace::TrackId process);

}  // namespace sonde::capture
