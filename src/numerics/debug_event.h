// DebugEvent, the record of tfdbg V2 files, decoded in place: views into the payload, nothing
// copied. Also the fields that sonde.debug adds and other readers skip.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::numerics {

enum class DebugMode : uint8_t {
  kUnspecified = 0,
  kNoTensor = 1,
  kCurtHealth = 2,
  kConciseHealth = 3,
  kFullHealth = 4,
  kShape = 5,
  kFullNumerics = 6,
  kFullTensor = 7,
  kReduceInfNan = 8,
};
std::string_view name_of(DebugMode mode);

enum class EventKind : uint8_t {
  kOther,
  kMetadata,
  kSourceFile,
  kStackFrame,
  kOpCreation,
  kGraph,
  kExecution,
  kTrace,
  kDevice,
};

struct DebugEvent {
  double wall_time = 0;
  int64_t step = -1;  // sonde.debug's training step; TensorFlow writes none
  EventKind kind = EventKind::kOther;
  Bytes body;  // of the message that `kind` names
};
Result<DebugEvent> parse_event(Bytes payload);

struct Metadata {
  std::string_view tensorflow_version, file_version, run_id;
  std::string_view framework;  // sonde.debug: "torch", "jax", "keras"
  int64_t rank = -1;           // sonde.debug: of several processes
};
Result<Metadata> parse_metadata(Bytes body);

struct SourceFile {
  std::string_view path, host;
  std::vector<std::string_view> lines;
};
// Without `lines` when these are not wanted.
Result<SourceFile> parse_source_file(Bytes body, bool with_lines);

struct StackFrame {
  std::string_view id, function;
  int64_t file_index = 0, line = 0;
};
Result<StackFrame> parse_stack_frame(Bytes body);

struct CodeLocation {
  std::string_view host;
  std::vector<std::string_view> frame_ids;  // outermost last in TensorFlow's own files
};

struct OpCreation {
  std::string_view type, name, graph_id;
  std::vector<std::string_view> inputs;  // "op:slot"
  std::vector<int64_t> output_ids;
  CodeLocation where;
};
Result<OpCreation> parse_op_creation(Bytes body);

struct DebuggedGraph {
  std::string_view id, name, outer_id;
};
Result<DebuggedGraph> parse_graph(Bytes body);

struct Device {
  std::string_view name;
  int64_t id = 0;
};
Result<Device> parse_device(Bytes body);

struct Execution {
  std::string_view op_type, graph_id;
  std::vector<int64_t> input_ids, output_ids, device_ids;
  DebugMode mode = DebugMode::kUnspecified;
  std::vector<Bytes> tensors;
  CodeLocation where;
};
Result<Execution> parse_execution(Bytes body);

struct Trace {
  std::string_view context_id, op_name, device_name;
  int64_t slot = 0;
  DebugMode mode = DebugMode::kUnspecified;
  Bytes tensor;
  Bytes numbers;    // sonde.debug: see Numbers
  Bytes histogram;  // sonde.debug: counts by binary exponent, packed
};
Result<Trace> parse_trace(Bytes body);

}  // namespace sonde::numerics
