// From the bytes of an HloProto to a Module.
#include <fmt/format.h>

#include "base/strings.h"
#include "capture/analysis/hlo/module.h"
#include "codec/wire.h"

namespace sonde::capture::hlo {
namespace {

constexpr int kMaxShapeDepth = 32;

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

}  // namespace sonde::capture::hlo
