#include "capture/analysis/vocabulary.h"

#include <algorithm>
#include <string_view>

namespace sonde::capture {
namespace {

struct EventName {
  std::string_view name;
  HostEvent event;
};
constexpr EventName kEvents[] = {
    {"TraceContext", HostEvent::kTraceContext},
    {"SessionRun", HostEvent::kSessionRun},
    {"FunctionRun", HostEvent::kFunctionRun},
    {"RunGraph", HostEvent::kRunGraph},
    {"ExecutorState::Process", HostEvent::kExecutorProcess},
    {"EagerExecute", HostEvent::kEagerExecute},
    {"InstantiatedCapturedFunction::Run", HostEvent::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunWithBorrowedArgs", HostEvent::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunInstantiated", HostEvent::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunAsync", HostEvent::kCapturedFunction},
    {"IteratorGetNextOp::DoCompute", HostEvent::kIteratorGetNext},
    {"IteratorGetNextAsOptionalOp::DoCompute", HostEvent::kIteratorGetNextAsOptional},
    {"Iterator::Prefetch::Generator", HostEvent::kPrefetchGenerator},
    {"MemoryAllocation", HostEvent::kMemoryAllocation},
    {"MemoryDeallocation", HostEvent::kMemoryDeallocation},
    {"BatchingSessionRun", HostEvent::kBatchingSessionRun},
    {"ProcessBatch", HostEvent::kProcessBatch},
    {"OrbaxServing::ProcessBatch", HostEvent::kProcessBatch},
    {"ThreadpoolListener::Record", HostEvent::kThreadpool},
    {"ThreadpoolListener::StartRegion", HostEvent::kThreadpool},
    {"ThreadpoolListener::StopRegion", HostEvent::kThreadpool},
    {"ThreadpoolListener::Region", HostEvent::kThreadpool},
};
// Names of the exact list that parse as ops but are none.
constexpr std::string_view kPairStarts[] = {"Prefetch",    "ParallelInterleave", "ParallelMap",
                                            "MapAndBatch", "ParseExample",       "ParallelBatch"};
constexpr std::string_view kLoops[] = {"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp",
                                       "ParallelForOp", "ForeverOp"};

LabelInfo info_of(std::string_view name) {
  LabelInfo info;
  info.op = parse_op_name(name);
  info.is_loop = std::ranges::find(kLoops, name) != std::end(kLoops);
  for (const EventName& entry : kEvents) {
    if (entry.name == name) {
      info.event = entry.event;
      return info;
    }
  }
  for (const std::string_view start : kPairStarts) {
    if (!name.starts_with(start)) continue;
    if (name.substr(start.size()) == "Produce") info.event = HostEvent::kProduce;
    if (name.substr(start.size()) == "Consume") info.event = HostEvent::kConsume;
    if (info.event != HostEvent::kUnknown) return info;
  }
  if (info.op.category == OpCategory::kTfData) info.event = HostEvent::kIterator;
  if (info.op.category == OpCategory::kTensorFlow) info.event = HostEvent::kTfOp;
  return info;
}

PlaneKind kind_of(std::string_view name) {
  if (name.starts_with("/host:CPU")) return PlaneKind::kHost;
  if (name.starts_with("/device:GPU:")) return PlaneKind::kGpu;
  if (name.starts_with("/device:TPU:")) return PlaneKind::kTpu;
  if (name.starts_with("/device:CUSTOM:")) return PlaneKind::kCustom;
  if (name == "/host:metadata") return PlaneKind::kMetadata;
  return PlaneKind::kOther;
}

// Derived lines have ids 0xdeadbeef … +389, as a signed 32-bit number; old files mark them by name.
bool is_derived_line(const trace::Trace& trace, trace::TrackId t) {
  constexpr int64_t kBase = -559038737;
  const int64_t id = trace.tracks()[t].id;
  if (id >= kBase && id <= kBase + 389) return true;
  const int64_t unsigned_base = int64_t{0xdeadbeef};
  return id >= unsigned_base && id <= unsigned_base + 389;
}

}  // namespace

Keys::Keys(const trace::Trace& t)
    : root(t.key("_r")),
      async(t.key("_a")),
      producer_type(t.key("_pt")),
      producer_id(t.key("_p")),
      consumer_type(t.key("_ct")),
      consumer_id(t.key("_c")),
      consumer_pid(t.key("_pid")),
      id(t.key("id")),
      iter_num(t.key("iter_num")),
      step_num(t.key("step_num")),
      graph_type(t.key("graph_type")),
      group_id(t.key("group_id")),
      step_name(t.key("step_name")),
      is_eager(t.key("is_eager")),
      is_func(t.key("is_func")),
      correlation_id(t.key("correlation_id")),
      device_id(t.key("device_id")),
      kernel_details(t.key("kernel_details")),
      memcpy_details(t.key("memcpy_details")),
      tf_op(t.key("tf_op")),
      level0(t.key("level 0")),
      name(t.key("name")),
      hlo_op(t.key("hlo_op")),
      hlo_module(t.key("hlo_module")),
      program_id(t.key("program_id")),
      shape(t.key("shape")),
      equation(t.key("equation")),
      tf_function_call(t.key("tf_function_call")),
      tracing_count(t.key("tracing_count")),
      parent_id(t.key("parent_id")),
      element_id(t.key("element_id")),
      stage_id(t.key("_ipl_stage_id")),
      stage_name(t.key("_ipl_stage_name")),
      stage_category(t.key("_ipl_stage_cat")),
      eager_op(t.key("eager_op")),
      allocator_name(t.key("allocator_name")),
      device_ordinal(t.key("device_ordinal")),
      index_on_host(t.key("index_on_host")),
      bytes_reserved(t.key("bytes_reserved")),
      bytes_allocated(t.key("bytes_allocated")),
      bytes_available(t.key("bytes_available")),
      peak_bytes(t.key("peak_bytes_in_use")),
      requested_bytes(t.key("requested_bytes")),
      allocation_bytes(t.key("allocation_bytes")),
      address(t.key("addr")),
      fragmentation(t.key("fragmentation")),
      region_type(t.key("region_type")),
      data_type(t.key("data_type")),
      tensor_shapes(t.key("shape")),
      flops(t.key("flops")),
      model_flops(t.key("model_flops")),
      bytes_accessed(t.key("bytes_accessed")),
      hlo_category(t.key("hlo_category")),
      symbol_id(t.key("symbol_id")),
      device_offset(t.key("device_offset_ps")),
      device_duration(t.key("device_duration_ps")),
      time_scale(t.key("Time Scale Multiplier")),
      memory_breakdown(t.key("memory_access_breakdown")),
      deduplicated_name(t.key("deduplicated_name")),
      source(t.key("source")),
      source_stack(t.key("source_stack")),
      cuda_graph_exec_id(t.key("cuda_graph_exec_id")),
      module_name(t.key("module_name")),
      run_id(t.key("run_id")),
      raw_bytes_accessed(t.key("raw_bytes_accessed")),
      theoretical_occupancy(t.key("theoretical_occupancy_pct")) {}

Vocabulary::Vocabulary(const trace::Trace& trace) : key(trace) {
  labels.reserve(trace.labels().size());
  for (const trace::Label& label : trace.labels()) {
    labels.push_back(info_of(trace.text(label.name)));
    has_loops |= labels.back().is_loop;
  }
  const auto& tracks = trace.tracks();
  planes.assign(tracks.size(), PlaneKind::kOther);
  derived.assign(tracks.size(), false);
  for (trace::TrackId t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind != trace::TrackKind::kProcess) {
      derived[t] = is_derived_line(trace, t);
      continue;
    }
    planes[t] = kind_of(trace.track_name(t));
    if (planes[t] == PlaneKind::kHost) host_planes.push_back(t);
    if (planes[t] == PlaneKind::kGpu) gpu_planes.push_back(t);
    if (planes[t] == PlaneKind::kTpu) tpu_planes.push_back(t);
  }
  if (key.group_id == trace::kNone) return;
  for (trace::SliceId s = 0; s < trace.slice_count() && !has_group_ids; ++s)
    has_group_ids = trace.find(trace.args(s), key.group_id).has_value();
}

std::vector<trace::TrackId> lines_of(const trace::Trace& trace, trace::TrackId process) {
  std::vector<trace::TrackId> lines;
  for (const trace::TrackId t : trace.children(process)) {
    const trace::TrackKind kind = trace.tracks()[t].kind;
    if (kind == trace::TrackKind::kThread || kind == trace::TrackKind::kStream) lines.push_back(t);
  }
  return lines;
}

}  // namespace sonde::capture
