// Compiled programs (HloProto) as the capture holds them: computations, instructions, shapes and
// the buffer assignment's bytes. Parsed with the wire cursor; ids are those of the file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/trace/trace.h"

namespace sonde::capture::hlo {

enum class Primitive : int32_t {
  kInvalid = 0,
  kPred = 1,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBf16 = 16,
  kToken = 17,
  kC128 = 18
};

std::string_view primitive_name(int32_t type);
int primitive_bits(int32_t type);  // 0 for tuples, tokens and opaque values

struct Shape {
  int32_t type = 0;
  std::vector<int64_t> dimensions;
  std::vector<Shape> tuple;
  std::vector<int64_t> minor_to_major;
  bool has_layout = false;
  std::string layout_extra;  // tiles and memory space: "T(8,128)S(1)"

  bool is_tuple() const { return type == static_cast<int32_t>(Primitive::kTuple); }
  int64_t elements() const;  // of an array; 0 for tuples
  int64_t bytes() const;     // tuples: of all leaves (without the pointer table)
  std::string text(bool with_layout) const;
};

struct WindowDimension {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0, window_dilation = 1,
          base_dilation = 1;
  bool reversed = false;
};

struct Convolution {
  bool present = false;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0, input_batch = 0, input_feature = 0,
          output_batch = 0, output_feature = 0;
  std::vector<int64_t> kernel_spatial, input_spatial, output_spatial;
};

struct Dot {
  bool present = false;
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

struct SliceDimension {
  int64_t start = 0, limit = 0, stride = 1;
};

struct Instruction {
  std::string name, opcode;
  Shape shape;
  int64_t id = 0;
  std::vector<int64_t> operands, called, control_predecessors;
  std::string op_type, op_name, source_file, deduplicated_name;
  int32_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int32_t stack_frame = 0;
  int64_t parameter_number = 0, tuple_index = 0, channel_id = 0;
  std::string fusion_kind, custom_call_target, backend_config, comparison, literal;
  std::vector<int64_t> dimensions;
  std::vector<WindowDimension> window;
  Convolution convolution;
  Dot dot;
  std::vector<SliceDimension> slices;
  int64_t feature_groups = 1, batch_groups = 1;
  // Of a custom call.
  std::vector<Shape> operand_layouts;
  bool has_operand_layouts = false, has_side_effect = false;
  int64_t api_version = 0;
  std::string frontend_attributes;  // FrontendAttributes, as in the file
  bool is_root = false;
  uint32_t computation = 0;  // index

  // "op_name:op_type", empty when the instruction has neither.
  std::string framework_op() const;
};

struct Computation {
  std::string name;
  int64_t id = 0, root = 0;
  uint32_t first = 0, count = 0;  // in Module::instructions
  bool is_fusion = false;
};

struct Module {
  std::string name;  // "jit_step"
  uint64_t program_id = 0;
  std::string display_name;  // "jit_step(6)"
  std::string entry_name;
  int64_t entry_id = 0;
  std::vector<Computation> computations;
  std::vector<Instruction> instructions;
  std::unordered_map<std::string_view, uint32_t> by_name;  // keys live in `instructions`
  std::unordered_map<int64_t, uint32_t> by_id;
  std::map<int64_t, uint32_t> computation_by_id;
  std::vector<std::string> file_names, function_names;
  struct Location {
    int32_t file = 0, function = 0, line = 0, column = 0;
  };
  std::vector<Location> locations;
  struct Frame {
    int32_t location = 0, parent = 0;
  };
  std::vector<Frame> frames;
  Bytes proto;                                       // of the whole HloProto; lives in the trace
  Bytes buffer_assignment;                           // empty when the capture has none
  std::map<int64_t, std::vector<int64_t>> schedule;  // computation id -> instruction ids

  const Instruction* find(std::string_view instruction) const {
    const auto found = by_name.find(instruction);
    return found == by_name.end() ? nullptr : &instructions[found->second];
  }
  const Instruction* with_id(int64_t id) const;
  const Computation* computation(int64_t id) const {
    const auto found = computation_by_id.find(id);
    return found == computation_by_id.end() ? nullptr : &computations[found->second];
  }
  // "file:line:column" lines, innermost first; "file:line" when there is no stack.
  std::string source_stack(const Instruction& instruction) const;
  std::string source(const Instruction& instruction) const;  // "train.py:12"
};

Result<Module> parse_module(Bytes proto);

// All modules of a trace, by program id; a later one with an equal id wins.
class Modules {
 public:
  explicit Modules(const trace::Trace& trace);
  const Module* by_program(uint64_t program_id) const;
  const Module* by_display_name(std::string_view name) const;  // "jit_step(6)" or "jit_step"
  const std::vector<std::unique_ptr<Module>>& all() const { return modules_; }  // as they come

 private:
  std::vector<std::unique_ptr<Module>> modules_;
};

}  // namespace sonde::capture::hlo
