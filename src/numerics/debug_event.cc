#include "numerics/debug_event.h"

#include "codec/wire.h"

namespace sonde::numerics {
namespace {

// A message of strangers may hold millions of repeated fields of two bytes each.
constexpr size_t kMostRepeated = size_t{1} << 20;

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(Code::kCorrupt, "a malformed " + std::string(what));
}

template <class T>
bool push(std::vector<T>& list, T value) {
  if (list.size() >= kMostRepeated) return false;
  list.push_back(value);
  return true;
}

bool push_integers(std::vector<int64_t>& list, const wire::Field& field) {
  bool fits = true;
  const bool ok = wire::for_each_varint(
      field, [&](uint64_t value) { fits = fits && push(list, static_cast<int64_t>(value)); });
  return ok && fits;
}

bool parse_location(Bytes body, CodeLocation& where) {
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) where.host = f.text();
    if (f.number == 2 && !push(where.frame_ids, f.text())) return false;
  }
  return cursor.ok();
}

DebugMode mode_of(uint64_t bits) {
  return bits <= static_cast<uint64_t>(DebugMode::kReduceInfNan) ? static_cast<DebugMode>(bits)
                                                                 : DebugMode::kUnspecified;
}

}  // namespace

std::string_view name_of(DebugMode mode) {
  switch (mode) {
    case DebugMode::kNoTensor:
      return "NO_TENSOR";
    case DebugMode::kCurtHealth:
      return "CURT_HEALTH";
    case DebugMode::kConciseHealth:
      return "CONCISE_HEALTH";
    case DebugMode::kFullHealth:
      return "FULL_HEALTH";
    case DebugMode::kShape:
      return "SHAPE";
    case DebugMode::kFullNumerics:
      return "FULL_NUMERICS";
    case DebugMode::kFullTensor:
      return "FULL_TENSOR";
    case DebugMode::kReduceInfNan:
      return "REDUCE_INF_NAN_THREE_SLOTS";
    case DebugMode::kUnspecified:
      break;
  }
  return "UNSPECIFIED";
}

Result<DebugEvent> parse_event(Bytes payload) {
  DebugEvent event;
  wire::Cursor cursor(payload);
  const auto set = [&](EventKind kind, const wire::Field& field) {
    event.kind = kind;
    event.body = field.bytes;
  };
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.type == wire::Type::kFixed64) event.wall_time = f.as_double();
    if (f.number == 2 && f.type == wire::Type::kVarint) event.step = f.as_int();
    if (!f.is_bytes()) continue;
    switch (f.number) {
      case 3:
        set(EventKind::kMetadata, f);
        break;
      case 4:
        set(EventKind::kSourceFile, f);
        break;
      case 6:
        set(EventKind::kStackFrame, f);
        break;
      case 7:
        set(EventKind::kOpCreation, f);
        break;
      case 8:
        set(EventKind::kGraph, f);
        break;
      case 9:
        set(EventKind::kExecution, f);
        break;
      case 10:
        set(EventKind::kTrace, f);
        break;
      case 12:
        set(EventKind::kDevice, f);
        break;
      default:
        break;
    }
  }
  if (!cursor.ok()) return malformed("debug event");
  return event;
}

Result<Metadata> parse_metadata(Bytes body) {
  Metadata metadata;
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 31 && f.type == wire::Type::kVarint) metadata.rank = f.as_int();
    if (!f.is_bytes()) continue;
    if (f.number == 1) metadata.tensorflow_version = f.text();
    if (f.number == 2) metadata.file_version = f.text();
    if (f.number == 3) metadata.run_id = f.text();
    if (f.number == 30) metadata.framework = f.text();
  }
  if (!cursor.ok()) return malformed("metadata record");
  return metadata;
}

Result<SourceFile> parse_source_file(Bytes body, bool with_lines) {
  SourceFile file;
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) file.path = f.text();
    if (f.number == 2) file.host = f.text();
    if (f.number == 3 && with_lines && !push(file.lines, f.text()))
      return malformed("source file (more than a million lines)");
  }
  if (!cursor.ok()) return malformed("source file record");
  return file;
}

Result<StackFrame> parse_stack_frame(Bytes body) {
  StackFrame frame;
  wire::Cursor cursor(body);
  bool ok = true;
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) frame.id = f.text();
    if (f.number != 2) continue;
    wire::Cursor inner(f.bytes);
    for (wire::Field g; inner.next(g);) {
      if (g.number == 1 && g.type == wire::Type::kVarint) frame.file_index = g.as_int();
      if (g.number == 2 && g.type == wire::Type::kVarint) frame.line = g.as_int();
      if (g.number == 4 && g.is_bytes()) frame.function = g.text();
    }
    ok = ok && inner.ok();
  }
  if (!cursor.ok() || !ok) return malformed("stack frame");
  return frame;
}

Result<OpCreation> parse_op_creation(Bytes body) {
  OpCreation op;
  wire::Cursor cursor(body);
  bool ok = true;
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        if (f.is_bytes()) op.type = f.text();
        break;
      case 2:
        if (f.is_bytes()) op.name = f.text();
        break;
      case 4:
        if (f.is_bytes()) op.graph_id = f.text();
        break;
      case 6:
        if (f.is_bytes()) ok = ok && push(op.inputs, f.text());
        break;
      case 8:
        if (f.is_bytes()) ok = ok && parse_location(f.bytes, op.where);
        break;
      case 9:
        ok = ok && push_integers(op.output_ids, f);
        break;
      default:
        break;
    }
  }
  if (!cursor.ok() || !ok) return malformed("graph op");
  return op;
}

Result<DebuggedGraph> parse_graph(Bytes body) {
  DebuggedGraph graph;
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) graph.id = f.text();
    if (f.number == 2) graph.name = f.text();
    if (f.number == 6) graph.outer_id = f.text();
  }
  if (!cursor.ok()) return malformed("graph");
  return graph;
}

Result<Device> parse_device(Bytes body) {
  Device device;
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.is_bytes()) device.name = f.text();
    if (f.number == 2 && f.type == wire::Type::kVarint) device.id = f.as_int();
  }
  if (!cursor.ok()) return malformed("device");
  return device;
}

Result<Execution> parse_execution(Bytes body) {
  Execution execution;
  wire::Cursor cursor(body);
  bool ok = true;
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        if (f.is_bytes()) execution.op_type = f.text();
        break;
      case 3:
        if (f.is_bytes()) execution.graph_id = f.text();
        break;
      case 4:
        ok = ok && push_integers(execution.input_ids, f);
        break;
      case 5:
        ok = ok && push_integers(execution.output_ids, f);
        break;
      case 6:
        execution.mode = mode_of(f.bits);
        break;
      case 7:
        if (f.is_bytes()) ok = ok && push(execution.tensors, f.bytes);
        break;
      case 8:
        if (f.is_bytes()) ok = ok && parse_location(f.bytes, execution.where);
        break;
      case 9:
        ok = ok && push_integers(execution.device_ids, f);
        break;
      default:
        break;
    }
  }
  if (!cursor.ok() || !ok) return malformed("execution");
  return execution;
}

Result<Trace> parse_trace(Bytes body) {
  Trace trace;
  wire::Cursor cursor(body);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        if (f.is_bytes()) trace.context_id = f.text();
        break;
      case 2:
        if (f.is_bytes()) trace.op_name = f.text();
        break;
      case 3:
        trace.slot = f.as_int();
        break;
      case 4:
        trace.mode = mode_of(f.bits);
        break;
      case 5:
        if (f.is_bytes()) trace.tensor = f.bytes;
        break;
      case 6:
        if (f.is_bytes()) trace.device_name = f.text();
        break;
      case 30:
        if (f.is_bytes()) trace.numbers = f.bytes;
        break;
      case 31:
        if (f.is_bytes()) trace.histogram = f.bytes;
        break;
      default:
        break;
    }
  }
  if (!cursor.ok()) return malformed("graph execution trace");
  return trace;
}

}  // namespace sonde::numerics
