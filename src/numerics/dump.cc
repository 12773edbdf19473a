#include "numerics/dump.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "codec/wire.h"

namespace sonde::numerics {
namespace {

constexpr size_t kMostGraphDepth = 1000;

// "op:slot"; without a slot it is the first.
std::pair<std::string, int64_t> parse_input(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return {to_utf8(text), 0};
  int64_t slot = 0;
  for (const char c : text.substr(colon + 1)) {
    if (c < '0' || c > '9' || slot > 1'000'000) return {to_utf8(text), 0};
    slot = slot * 10 + (c - '0');
  }
  return {to_utf8(text.substr(0, colon)), slot};
}

constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

}  // namespace

const Graph* Data::graph(std::string_view id) const {
  const auto found = graph_by_id.find(std::string(id));
  return found == graph_by_id.end() ? nullptr : &graphs[found->second];
}

const Op* Data::op(std::string_view graph_id, std::string_view name) const {
  const Graph* in = graph(graph_id);
  if (!in) return nullptr;
  const auto found = in->ops.find(std::string(name));
  return found == in->ops.end() ? nullptr : &ops[found->second];
}

std::vector<std::string_view> Data::graph_path(std::string_view id) const {
  std::vector<std::string_view> path{id};
  for (const Graph* at = graph(id); at && !at->outer_id.empty(); at = graph(at->outer_id)) {
    if (path.size() > kMostGraphDepth) break;  // graphs that enclose each other
    path.push_back(at->outer_id);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Dump::Dump(DumpFiles files) : files_(std::move(files)) { open_files(); }

void Dump::open_files() {
  const auto open = [](const std::string& prefix, const char* kind) {
    auto file = std::make_unique<File>(prefix + "." + kind);
    file->kind = kind;
    return file;
  };
  const std::string& primary = files_.sets.front().prefix;
  source_file_ = open(primary, "source_files");
  frame_file_ = open(primary, "stack_frames");
  graph_file_ = open(primary, "graphs");
  execution_file_ = open(primary, "execution");
  trace_files_.clear();
  for (const FileSet& set : files_.sets)
    trace_files_.push_back(open(set.prefix, "graph_execution_traces"));
}

void Dump::update() {
  const std::lock_guard only(update_mutex_);
  if (read_all()) return;
  // A file was replaced: everything is read anew.
  {
    const std::unique_lock lock(mutex_);
    open_files();
    data_ = Data();
    traced_ids_ = StringTable();
    device_list_ids_.clear();
    unresolved_.clear();
    ++revision_;
  }
  read_all();
}

template <class Take>
bool Dump::read_file(File& file, Take&& take) {
  return file.read_on([&](Bytes window, uint64_t offset, const std::vector<record::Frame>& frames) {
    const std::unique_lock lock(mutex_);
    for (const record::Frame& frame : frames) {
      const auto event = parse_event(window.subspan(frame.at, frame.length));
      const Result<void> taken =
          event ? take(*event, offset + frame.at) : Result<void>(fail(event.error()));
      ++file.records;
      if (!taken) file.add_damage(offset + frame.at, taken.error().text);
    }
    ++revision_;
  });
}

// In this order references resolve. False when a file was replaced.
bool Dump::read_all() {
  const bool first =
      read_file(*source_file_,
                [&](const DebugEvent& e, uint64_t offset) { return take_source(e, offset); }) &&
      read_file(*frame_file_, [&](const DebugEvent& e, uint64_t) { return take_frame(e); });
  if (!first) return false;
  {
    const std::unique_lock lock(mutex_);
    resolve_frames();
  }
  if (!read_file(*graph_file_, [&](const DebugEvent& e, uint64_t) { return take_graph(e); }))
    return false;
  for (uint32_t i = 0; i < trace_files_.size(); ++i) {
    if (!read_file(*trace_files_[i],
                   [&](const DebugEvent& e, uint64_t offset) { return take_trace(e, offset, i); }))
      return false;
  }
  return read_file(*execution_file_,
                   [&](const DebugEvent& e, uint64_t offset) { return take_execution(e, offset); });
}

Result<void> Dump::take_source(const DebugEvent& event, uint64_t offset) {
  if (event.kind != EventKind::kSourceFile) return {};
  SONDE_TRY(file, parse_source_file(event.body, false));
  auto key = std::pair(to_utf8(file.host), to_utf8(file.path));
  const auto [at, is_new] =
      data_.source_by_name.emplace(key, static_cast<uint32_t>(data_.sources.size()));
  if (is_new) {
    data_.sources.push_back({std::move(key.first), std::move(key.second), offset});
  } else {
    data_.sources[at->second].offset = offset;  // written again: the newer text counts
  }
  return {};
}

Result<void> Dump::take_frame(const DebugEvent& event) {
  if (event.kind != EventKind::kStackFrame) return {};
  SONDE_TRY(frame, parse_stack_frame(event.body));
  std::string id(frame.id);
  data_.frames[id] = {UINT32_MAX, frame.file_index, frame.line, to_utf8(frame.function)};
  unresolved_.push_back(std::move(id));
  return {};
}

void Dump::resolve_frames() {
  std::erase_if(unresolved_, [&](const std::string& id) {
    Frame& frame = data_.frames[id];
    if (frame.file_index < 0 || frame.file_index >= static_cast<int64_t>(data_.sources.size()))
      return false;
    frame.source = static_cast<uint32_t>(frame.file_index);
    return true;
  });
}

Graph& Dump::graph_of(std::string_view id) {
  const auto [at, is_new] =
      data_.graph_by_id.emplace(std::string(id), static_cast<uint32_t>(data_.graphs.size()));
  if (is_new) {
    data_.graphs.emplace_back();
    data_.graphs.back().id = to_utf8(id);
  }
  return data_.graphs[at->second];
}

Result<void> Dump::take_graph(const DebugEvent& event) {
  if (event.kind == EventKind::kDevice) {
    SONDE_TRY(device, parse_device(event.body));
    data_.devices[device.id] = to_utf8(device.name);
  } else if (event.kind == EventKind::kGraph) {
    SONDE_TRY(written, parse_graph(event.body));
    Graph& graph = graph_of(written.id);
    graph.name = to_utf8(written.name);
    const bool is_known = !graph.outer_id.empty();
    graph.outer_id = to_utf8(written.outer_id);
    if (!graph.outer_id.empty() && !is_known) {
      std::string id = graph.id;
      graph_of(written.outer_id).inner_ids.push_back(std::move(id));
    }
  } else if (event.kind == EventKind::kOpCreation) {
    SONDE_TRY(written, parse_op_creation(event.body));
    graph_of(written.graph_id);
    const uint32_t graph_index = data_.graph_by_id[std::string(written.graph_id)];
    Graph& graph = data_.graphs[graph_index];
    const auto index = static_cast<uint32_t>(data_.ops.size());
    if (!graph.ops.emplace(std::string(written.name), index).second)
      return fail(Code::kCorrupt, "a second op '" + to_utf8(written.name) + "' in one graph");
    Op op;
    op.type = data_.texts.id(to_utf8(written.type));
    op.graph = graph_index;
    op.name = to_utf8(written.name);
    op.wall_time = event.wall_time;
    op.output_ids = std::move(written.output_ids);
    op.host = data_.texts.id(to_utf8(written.where.host));
    for (const std::string_view id : written.where.frame_ids)
      op.frame_ids.push_back(data_.texts.id(id));
    for (size_t slot = 0; slot < written.inputs.size(); ++slot) {
      op.inputs.push_back(parse_input(written.inputs[slot]));
      graph.consumers[op.inputs.back().first].push_back(
          {op.inputs.back().second, index, static_cast<int64_t>(slot)});
    }
    data_.ops.push_back(std::move(op));
  }
  return {};
}

void Dump::note_alert(const Health& health, bool is_whole, InfNanAlert alert) {
  if (health.bad == kNone) return;
  alert.size = health.size;
  alert.neg_inf = health.neg_inf;
  alert.pos_inf = health.pos_inf;
  alert.nan = health.nan;
  alert.is_whole = is_whole;
  data_.alerts.push_back(alert);
}

Result<void> Dump::take_trace(const DebugEvent& event, uint64_t offset, uint32_t file) {
  if (event.kind != EventKind::kTrace) return {};
  SONDE_TRY(trace, parse_trace(event.body));
  std::string key;
  key.reserve(trace.context_id.size() + trace.op_name.size() + 24);
  key.append(trace.context_id).append(1, '\0').append(trace.op_name).append(1, '\0');
  key.append(reinterpret_cast<const char*>(&trace.slot), sizeof trace.slot);
  key.append(reinterpret_cast<const char*>(&file), sizeof file);
  const uint32_t id = traced_ids_.id(key);
  if (id == data_.traced.size())
    data_.traced.push_back(
        {data_.texts.id(trace.context_id), data_.texts.id(trace.op_name), trace.slot, file, 0});
  Traced& traced = data_.traced[id];

  TraceRow row{event.wall_time, offset,   kNone,     static_cast<uint8_t>(trace.mode),
               traced.count++,  id,       kNotKnown, kNotKnown,
               kNotKnown,       kNotKnown};
  if (event.step >= 0) row.step = static_cast<uint32_t>(std::min<int64_t>(event.step, UINT32_MAX));
  Health health;
  const bool is_whole = trace.mode == DebugMode::kFullTensor;
  if (is_whole) {
    if (const auto seen = examine_tensor(trace.tensor)) {
      health = seen->health;
      row.rms = seen->numbers.rms;
      row.saturated = saturation(health.dtype, seen->numbers);
    }
  } else if (const auto values = debug_values(trace.tensor)) {
    health = health_of(trace.mode, *values);
  }
  if (const auto numbers = parse_numbers(trace.numbers)) {
    row.rms = numbers->rms;
    row.saturated = saturation(health.dtype, *numbers);
  }
  if (const double share = health.zero_share(); share >= 0 && share <= 1)
    row.zeros = static_cast<float>(share);
  if (const double share = health.wrong_share(); share >= 0 && share <= 1)
    row.wrong = static_cast<float>(share);
  row.bad = health.bad;
  if (row.bad != kNone) ++data_.bad_traces;
  if (data_.alerts.size() < kMostAlerts) {
    InfNanAlert alert;
    alert.slot = trace.slot;
    alert.trace = static_cast<int64_t>(data_.traces.size());
    note_alert(health, is_whole, alert);
  }
  data_.traces.push_back(row);
  return {};
}

Result<void> Dump::take_execution(const DebugEvent& event, uint64_t offset) {
  if (event.kind != EventKind::kExecution) return {};
  SONDE_TRY(execution, parse_execution(event.body));
  ExecutionRow row{
      event.wall_time, offset,        event.step, data_.texts.id(to_utf8(execution.op_type)), 0,
      kNone,           execution.mode};
  const auto [list, is_new] = device_list_ids_.emplace(
      execution.device_ids, static_cast<uint32_t>(data_.device_lists.size()));
  if (is_new) data_.device_lists.push_back(execution.device_ids);
  row.device_list = list->second;
  const bool has_room = data_.alerts.size() < kMostAlerts;
  const bool is_whole = execution.mode == DebugMode::kFullTensor;
  for (size_t slot = 0; slot < execution.tensors.size(); ++slot) {
    Health health;
    if (is_whole) {
      if (const auto seen = examine_tensor(execution.tensors[slot])) health = seen->health;
    } else if (const auto values = debug_values(execution.tensors[slot])) {
      health = health_of(execution.mode, *values);
    }
    row.bad |= health.bad;
    if (!has_room) continue;
    InfNanAlert alert;
    alert.op_type = row.op_type;
    alert.slot = static_cast<int64_t>(slot);
    alert.execution = static_cast<int64_t>(data_.executions.size());
    note_alert(health, is_whole, alert);
  }
  if (row.bad != kNone) ++data_.bad_executions;
  data_.executions.push_back(row);
  return {};
}

std::vector<Dump::FileState> Dump::file_states() const {
  const std::lock_guard only(update_mutex_);
  std::vector<FileState> states;
  const auto add = [&](const File& file) {
    states.push_back({file.path(), file.kind, file.size(), file.records, file.damage_count(),
                      file.has_torn_tail()});
  };
  add(*source_file_);
  add(*frame_file_);
  add(*graph_file_);
  add(*execution_file_);
  for (const auto& file : trace_files_) add(*file);
  return states;
}

std::vector<RecordDamage> Dump::damages() const {
  const std::lock_guard only(update_mutex_);
  std::vector<RecordDamage> all;
  const auto add = [&](const File& file) {
    all.insert(all.end(), file.damages().begin(), file.damages().end());
  };
  add(*source_file_);
  add(*frame_file_);
  add(*graph_file_);
  add(*execution_file_);
  for (const auto& file : trace_files_) add(*file);
  return all;
}

RecordReads& DetailReader::reads(const std::string& path) {
  return reads_.try_emplace(path, path).first->second;
}

Result<TraceDetail> DetailReader::trace(uint32_t file, uint64_t offset) {
  SONDE_TRY(payload, reads(dump_.trace_path(file)).at(offset));
  SONDE_TRY(event, parse_event(payload));
  SONDE_TRY(trace, parse_trace(event.body));
  TraceDetail detail;
  detail.device_name = to_utf8(trace.device_name);
  detail.mode = trace.mode;
  if (trace.mode == DebugMode::kFullTensor) {
    if (const auto seen = examine_tensor(trace.tensor)) {
      detail.health = seen->health;
      detail.numbers = seen->numbers;
    }
  } else if ((detail.values = debug_values(trace.tensor))) {
    detail.health = health_of(trace.mode, *detail.values);
  }
  if (const auto numbers = parse_numbers(trace.numbers)) detail.numbers = numbers;
  const auto add = [&](uint64_t count) {
    if (detail.histogram.size() < 1000)
      detail.histogram.push_back(static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)));
  };
  wire::Field packed;
  packed.type = wire::Type::kBytes;
  packed.bytes = trace.histogram;
  wire::for_each_varint(packed, add);
  return detail;
}

Result<ExecutionDetail> DetailReader::execution(uint64_t offset) {
  SONDE_TRY(payload, reads(dump_.execution_path()).at(offset));
  SONDE_TRY(event, parse_event(payload));
  SONDE_TRY(execution, parse_execution(event.body));
  ExecutionDetail detail;
  detail.host = to_utf8(execution.where.host);
  detail.graph_id = to_utf8(execution.graph_id);
  for (const std::string_view id : execution.where.frame_ids)
    detail.frame_ids.push_back(to_utf8(id));
  detail.input_ids = std::move(execution.input_ids);
  detail.output_ids = std::move(execution.output_ids);
  detail.mode = execution.mode;
  for (const Bytes tensor : execution.tensors) {
    Health health;
    if (execution.mode == DebugMode::kFullTensor) {
      if (const auto seen = examine_tensor(tensor)) health = seen->health;
      detail.values.emplace_back();
    } else {
      detail.values.push_back(debug_values(tensor));
      if (detail.values.back()) health = health_of(execution.mode, *detail.values.back());
    }
    detail.health.push_back(std::move(health));
  }
  return detail;
}

Result<std::vector<std::string>> DetailReader::source_lines(uint64_t offset) {
  SONDE_TRY(payload, reads(dump_.source_path()).at(offset));
  SONDE_TRY(event, parse_event(payload));
  SONDE_TRY(file, parse_source_file(event.body, true));
  std::vector<std::string> lines;
  lines.reserve(file.lines.size());
  for (const std::string_view line : file.lines) lines.push_back(to_utf8(line));
  return lines;
}

}  // namespace sonde::numerics
