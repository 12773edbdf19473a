#include "profile/hlo/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "base/wire.h"

namespace sonde::profile::hlo {
namespace {

constexpr int kMaxShapeDepth = 32;

struct PrimitiveInfo {
  int32_t type;
  std::string_view name;
  int bits;
};
constexpr PrimitiveInfo kPrimitives[] = {
    {1, "pred", 8},
    {2, "s8", 8},
    {3, "s16", 16},
    {4, "s32", 32},
    {5, "s64", 64},
    {6, "u8", 8},
    {7, "u16", 16},
    {8, "u32", 32},
    {9, "u64", 64},
    {10, "f16", 16},
    {11, "f32", 32},
    {12, "f64", 64},
    {13, "tuple", 0},
    {14, "opaque", 0},
    {15, "c64", 64},
    {16, "bf16", 16},
    {17, "token", 0},
    {18, "c128", 128},
    {19, "f8e5m2", 8},
    {20, "f8e4m3fn", 8},
    {21, "s4", 4},
    {22, "u4", 4},
    {23, "f8e4m3b11fnuz", 8},
    {24, "f8e5m2fnuz", 8},
    {25, "f8e4m3fnuz", 8},
    {26, "s2", 2},
    {27, "u2", 2},
    {28, "f8e4m3", 8},
    {29, "f8e3m4", 8},
    {30, "s1", 1},
    {31, "u1", 1},
    {32, "f4e2m1fn", 4},
    {33, "f8e8m0fnu", 8},
    {35, "f6e3m2fn", 6},
    {36, "f6e2m3fn", 6},
};

const PrimitiveInfo* info(int32_t type) {
  for (const PrimitiveInfo& p : kPrimitives) {
    if (p.type == type) return &p;
  }
  return nullptr;
}

void push_varints(const wire::Field& field, std::vector<int64_t>& out) {
  (void)wire::for_each_varint(field, [&](uint64_t v) { out.push_back(static_cast<int64_t>(v)); });
}

std::string text_of(const wire::Field& field) { return to_utf8(field.text()); }

Shape parse_shape(Bytes message, int depth) {
  Shape shape;
  if (depth > kMaxShapeDepth) return shape;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 2:
        shape.type = static_cast<int32_t>(f.as_int());
        break;
      case 3:
        push_varints(f, shape.dimensions);
        break;
      case 4:
        if (f.is_bytes()) shape.tuple.push_back(parse_shape(f.bytes, depth + 1));
        break;
      case 5: {
        shape.has_layout = true;
        std::string tiles;
        int64_t memory_space = 0, element_bits = 0;
        wire::Cursor layout(f.bytes);
        for (wire::Field l; layout.next(l);) {
          if (l.number == 1) push_varints(l, shape.minor_to_major);
          if (l.number == 6 && l.is_bytes()) {
            std::vector<int64_t> tile;
            wire::Cursor t(l.bytes);
            for (wire::Field d; t.next(d);) {
              if (d.number == 1) push_varints(d, tile);
            }
            tiles += fmt::format("({})", fmt::join(tile, ","));
          }
          if (l.number == 7) element_bits = l.as_int();
          if (l.number == 8) memory_space = l.as_int();
        }
        if (!tiles.empty()) shape.layout_extra = "T" + tiles;
        if (element_bits != 0) shape.layout_extra += fmt::format("E({})", element_bits);
        if (memory_space != 0) shape.layout_extra += fmt::format("S({})", memory_space);
        break;
      }
      default:
        break;
    }
  }
  return shape;
}

void parse_metadata(Bytes message, Instruction& out) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        out.op_type = text_of(f);
        break;
      case 2:
        out.op_name = text_of(f);
        break;
      case 3:
        out.source_file = text_of(f);
        break;
      case 4:
        out.source_line = static_cast<int32_t>(f.as_int());
        break;
      case 12:
        out.deduplicated_name = text_of(f);
        break;
      case 15:
        out.stack_frame = static_cast<int32_t>(f.as_int());
        break;
      case 17:
        out.source_end_line = static_cast<int32_t>(f.as_int());
        break;
      case 18:
        out.source_column = static_cast<int32_t>(f.as_int());
        break;
      case 19:
        out.source_end_column = static_cast<int32_t>(f.as_int());
        break;
      default:
        break;
    }
  }
}

WindowDimension parse_window_dimension(Bytes message) {
  WindowDimension d;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    const int64_t v = f.as_int();
    if (f.number == 1) d.size = v;
    if (f.number == 2) d.stride = v;
    if (f.number == 3) d.padding_low = v;
    if (f.number == 4) d.padding_high = v;
    if (f.number == 5) d.window_dilation = v;
    if (f.number == 6) d.base_dilation = v;
    if (f.number == 7) d.reversed = v != 0;
  }
  return d;
}

Convolution parse_convolution(Bytes message) {
  Convolution c;
  c.present = true;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 3) c.kernel_input_feature = f.as_int();
    if (f.number == 4) c.kernel_output_feature = f.as_int();
    if (f.number == 6) push_varints(f, c.kernel_spatial);
    if (f.number == 7) c.input_batch = f.as_int();
    if (f.number == 8) c.input_feature = f.as_int();
    if (f.number == 9) c.output_batch = f.as_int();
    if (f.number == 10) c.output_feature = f.as_int();
    if (f.number == 11) push_varints(f, c.input_spatial);
    if (f.number == 12) push_varints(f, c.output_spatial);
  }
  return c;
}

Dot parse_dot(Bytes message) {
  Dot dot;
  dot.present = true;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) push_varints(f, dot.lhs_contracting);
    if (f.number == 2) push_varints(f, dot.rhs_contracting);
    if (f.number == 3) push_varints(f, dot.lhs_batch);
    if (f.number == 4) push_varints(f, dot.rhs_batch);
  }
  return dot;
}

Instruction parse_instruction(Bytes message) {
  Instruction out;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        out.name = text_of(f);
        break;
      case 2:
        out.opcode = text_of(f);
        break;
      case 3:
        if (f.is_bytes()) out.shape = parse_shape(f.bytes, 0);
        break;
      case 7:
        if (f.is_bytes()) parse_metadata(f.bytes, out);
        break;
      case 8:
        out.literal.assign(f.text());
        break;
      case 9:
        out.parameter_number = f.as_int();
        break;
      case 11:
        out.fusion_kind = text_of(f);
        break;
      case 13:
        out.tuple_index = f.as_int();
        break;
      case 14:
        push_varints(f, out.dimensions);
        break;
      case 15: {
        wire::Cursor window(f.bytes);
        for (wire::Field d; window.next(d);) {
          if (d.number == 1 && d.is_bytes()) out.window.push_back(parse_window_dimension(d.bytes));
        }
        break;
      }
      case 16:
        if (f.is_bytes()) out.convolution = parse_convolution(f.bytes);
        break;
      case 17: {
        SliceDimension slice;
        wire::Cursor dimension(f.bytes);
        for (wire::Field d; dimension.next(d);) {
          if (d.number == 1) slice.start = d.as_int();
          if (d.number == 2) slice.limit = d.as_int();
          if (d.number == 3) slice.stride = d.as_int();
        }
        out.slices.push_back(slice);
        break;
      }
      case 26:
        out.channel_id = f.as_int();
        break;
      case 28:
        out.custom_call_target = text_of(f);
        break;
      case 30:
        if (f.is_bytes()) out.dot = parse_dot(f.bytes);
        break;
      case 35:
        out.id = f.as_int();
        break;
      case 36:
        push_varints(f, out.operands);
        break;
      case 37:
        push_varints(f, out.control_predecessors);
        break;
      case 38:
        push_varints(f, out.called);
        break;
      case 43:
        out.backend_config = text_of(f);
        break;
      case 50:
        out.feature_groups = f.as_int();
        break;
      case 56:
        out.has_operand_layouts = f.as_bool();
        break;
      case 57:
        if (f.is_bytes()) out.operand_layouts.push_back(parse_shape(f.bytes, 0));
        break;
      case 58:
        out.batch_groups = f.as_int();
        break;
      case 63:
        out.comparison = text_of(f);
        break;
      case 65:
        out.has_side_effect = f.as_bool();
        break;
      case 68:
        out.frontend_attributes.assign(f.text());
        break;
      case 77:
        out.api_version = f.as_int();
        break;
      default:
        break;
    }
  }
  return out;
}

void parse_computation(Bytes message, Module& module) {
  Computation computation;
  computation.first = static_cast<uint32_t>(module.instructions.size());
  const auto index = static_cast<uint32_t>(module.computations.size());
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        computation.name = text_of(f);
        break;
      case 2:
        if (f.is_bytes()) {
          module.instructions.push_back(parse_instruction(f.bytes));
          module.instructions.back().computation = index;
        }
        break;
      case 5:
        computation.id = f.as_int();
        break;
      case 6:
        computation.root = f.as_int();
        break;
      case 7:
        computation.is_fusion = f.as_bool();
        break;
      default:
        break;
    }
  }
  computation.count = static_cast<uint32_t>(module.instructions.size()) - computation.first;
  for (uint32_t i = 0; i < computation.count; ++i) {
    Instruction& instruction = module.instructions[computation.first + i];
    instruction.is_root = instruction.id == computation.root;
  }
  module.computations.push_back(std::move(computation));
}

void parse_frames(Bytes message, Module& module) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) module.file_names.push_back(text_of(f));
    if (f.number == 2) module.function_names.push_back(text_of(f));
    if (f.number == 3) {
      Module::Location location;
      wire::Cursor l(f.bytes);
      for (wire::Field x; l.next(x);) {
        const auto v = static_cast<int32_t>(x.as_int());
        if (x.number == 1) location.file = v;
        if (x.number == 2) location.function = v;
        if (x.number == 3) location.line = v;
        if (x.number == 4) location.column = v;
      }
      module.locations.push_back(location);
    }
    if (f.number == 4) {
      Module::Frame frame;
      wire::Cursor l(f.bytes);
      for (wire::Field x; l.next(x);) {
        if (x.number == 1) frame.location = static_cast<int32_t>(x.as_int());
        if (x.number == 2) frame.parent = static_cast<int32_t>(x.as_int());
      }
      module.frames.push_back(frame);
    }
  }
}

void parse_schedule(Bytes message, Module& module) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    int64_t computation = 0;
    std::vector<int64_t> ids;
    wire::Cursor entry(f.bytes);
    for (wire::Field e; entry.next(e);) {
      if (e.number == 1) computation = e.as_int();
      if (e.number != 2 || !e.is_bytes()) continue;
      wire::Cursor sequence(e.bytes);
      for (wire::Field s; sequence.next(s);) {
        if (s.number == 1) push_varints(s, ids);
      }
    }
    module.schedule[computation] = std::move(ids);
  }
}

}  // namespace

std::string_view primitive_name(int32_t type) {
  const PrimitiveInfo* p = info(type);
  return p ? p->name : "invalid";
}

int primitive_bits(int32_t type) {
  const PrimitiveInfo* p = info(type);
  return p ? p->bits : 0;
}

int64_t Shape::elements() const {
  if (is_tuple()) return 0;
  int64_t n = 1;
  for (const int64_t d : dimensions) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return 0;
  }
  return n;
}

int64_t Shape::bytes() const {
  if (!is_tuple()) {
    int64_t bits;
    if (__builtin_mul_overflow(elements(), int64_t{primitive_bits(type)}, &bits)) return 0;
    return (bits + 7) / 8;
  }
  int64_t sum = 0;
  for (const Shape& leaf : tuple) sum += leaf.bytes();
  return sum;
}

std::string Shape::text(bool with_layout) const {
  if (is_tuple()) {
    std::string out = "(";
    for (size_t i = 0; i < tuple.size(); ++i) {
      if (i != 0) out += i % 5 == 0 ? fmt::format(", /*index={}*/", i) : ", ";
      out += tuple[i].text(with_layout);
    }
    return out + ")";
  }
  std::string out = fmt::format("{}[{}]", primitive_name(type), fmt::join(dimensions, ","));
  if (type == static_cast<int32_t>(Primitive::kToken) ||
      type == static_cast<int32_t>(Primitive::kOpaque)) {
    return std::string(primitive_name(type)) + "[]";
  }
  if (with_layout && has_layout && (!minor_to_major.empty() || !layout_extra.empty())) {
    out += fmt::format("{{{}{}{}}}", fmt::join(minor_to_major, ","),
                       layout_extra.empty() ? "" : ":", layout_extra);
  }
  return out;
}

std::string Instruction::framework_op() const {
  if (op_name.empty() && op_type.empty()) return {};
  return op_name + ":" + op_type;
}

const Instruction* Module::with_id(int64_t id) const {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &instructions[found->second];
}

std::string Module::source(const Instruction& instruction) const {
  if (!instruction.source_file.empty())
    return fmt::format("{}:{}", instruction.source_file, instruction.source_line);
  if (instruction.stack_frame > 0 &&
      static_cast<size_t>(instruction.stack_frame) <= frames.size()) {
    const Frame& frame = frames[static_cast<size_t>(instruction.stack_frame) - 1];
    if (frame.location > 0 && static_cast<size_t>(frame.location) <= locations.size()) {
      const Location& location = locations[static_cast<size_t>(frame.location) - 1];
      if (location.file > 0 && static_cast<size_t>(location.file) <= file_names.size())
        return fmt::format("{}:{}", file_names[static_cast<size_t>(location.file) - 1],
                           location.line);
    }
  }
  return {};
}

std::string Module::source_stack(const Instruction& instruction) const {
  std::string out;
  int32_t id = instruction.stack_frame;
  for (int depth = 0; id > 0 && static_cast<size_t>(id) <= frames.size() && depth < 256; ++depth) {
    const Frame& frame = frames[static_cast<size_t>(id) - 1];
    if (frame.location > 0 && static_cast<size_t>(frame.location) <= locations.size()) {
      const Location& l = locations[static_cast<size_t>(frame.location) - 1];
      const bool known = l.file > 0 && static_cast<size_t>(l.file) <= file_names.size();
      if (!out.empty()) out += "\n";
      out += fmt::format("{}:{}:{}",
                         known ? file_names[static_cast<size_t>(l.file) - 1] : std::string("?"),
                         l.line, l.column);
    }
    id = frame.parent;
  }
  return out;
}

Result<Module> parse_module(Bytes proto) {
  Module module;
  module.proto = proto;
  Bytes body;
  wire::Cursor cursor(proto);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.is_bytes()) body = f.bytes;
    if (f.number == 3 && f.is_bytes()) module.buffer_assignment = f.bytes;
  }
  if (!cursor.ok() && body.empty())
    return fail(Code::kCorrupt, "an HLO module in the capture cannot be decoded");
  wire::Cursor fields(body);
  for (wire::Field f; fields.next(f);) {
    switch (f.number) {
      case 1:
        module.name = text_of(f);
        break;
      case 2:
        module.entry_name = text_of(f);
        break;
      case 3:
        if (f.is_bytes()) parse_computation(f.bytes, module);
        break;
      case 6:
        module.entry_id = f.as_int();
        break;
      case 7:
        if (f.is_bytes()) parse_schedule(f.bytes, module);
        break;
      case 17:
        if (f.is_bytes()) parse_frames(f.bytes, module);
        break;
      default:
        break;
    }
  }
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    module.by_name.emplace(module.instructions[i].name, i);
    module.by_id.emplace(module.instructions[i].id, i);
  }
  for (uint32_t i = 0; i < module.computations.size(); ++i)
    module.computation_by_id.emplace(module.computations[i].id, i);
  return module;
}

Modules::Modules(const trace::Trace& trace) {
  const trace::KeyId proto_keys[] = {trace.key("Hlo Proto"), trace.key("HLO Proto"),
                                     trace.key("hlo_proto")};
  const trace::KeyId program_key = trace.key("program_id");
  const trace::KeyId id_key = trace.key("xplane.metadata_id");
  for (const trace::Label& label : trace.labels()) {
    if (label.args.count == 0) continue;
    std::optional<trace::ArgValue> proto;
    for (const trace::KeyId key : proto_keys) {
      if (!proto) proto = trace.find(label.args, key);
    }
    if (!proto || proto->type != trace::ArgType::kBytes) continue;
    auto parsed = parse_module(trace.bytes_of(*proto));
    if (!parsed) continue;
    auto module = std::make_unique<Module>(std::move(*parsed));
    module->display_name = trace.text(label.name);
    const size_t open = module->display_name.rfind('(');
    uint64_t number = 0;
    bool in_name = false;
    if (open != std::string::npos) {
      const char* end = module->display_name.data() + module->display_name.size();
      in_name =
          std::from_chars(module->display_name.data() + open + 1, end, number).ec == std::errc();
    }
    if (const auto program = trace.find(label.args, program_key)) {
      module->program_id = program->as_uint();
    } else if (in_name) {
      module->program_id = number;
    } else if (const auto id = trace.find(label.args, id_key)) {
      module->program_id = id->as_uint();
    }
    if (!in_name)
      module->display_name = fmt::format("{}({})", module->display_name, module->program_id);
    std::erase_if(modules_, [&](const auto& m) { return m->program_id == module->program_id; });
    modules_.push_back(std::move(module));
  }
}

const Module* Modules::by_program(uint64_t program_id) const {
  for (const auto& module : modules_) {
    if (module->program_id == program_id) return module.get();
  }
  return nullptr;
}

const Module* Modules::by_display_name(std::string_view name) const {
  for (const auto& module : modules_) {
    if (module->display_name == name || module->name == name) return module.get();
  }
  return nullptr;
}

}  // namespace sonde::profile::hlo
