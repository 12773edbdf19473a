// From the bytes of an HloProto to a Module.
#include <fmt/format.h>

#include "base/strings.h"
#include "capture/analysis/hlo/module.h"
#include "codec/fields/hlo.h"
#include "codec/fields/map_entry.h"
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
      case fields::HloShape::kElementType:
        shape.type = static_cast<int32_t>(f.as_int());
        break;
      case fields::HloShape::kDimensions:
        push_varints(f, shape.dimensions);
        break;
      case fields::HloShape::kTuple:
        if (f.is_bytes()) shape.tuple.push_back(parse_shape(f.bytes, depth + 1));
        break;
      case fields::HloShape::kLayout: {
        shape.has_layout = true;
        std::string tiles;
        int64_t memory_space = 0, element_bits = 0;
        wire::Cursor layout(f.bytes);
        for (wire::Field l; layout.next(l);) {
          if (l.number == fields::HloLayout::kMinorToMajor) push_varints(l, shape.minor_to_major);
          if (l.number == fields::HloLayout::kTiles && l.is_bytes()) {
            std::vector<int64_t> tile;
            wire::Cursor t(l.bytes);
            for (wire::Field d; t.next(d);) {
              if (d.number == fields::HloTile::kDimensions) push_varints(d, tile);
            }
            tiles += fmt::format("({})", fmt::join(tile, ","));
          }
          if (l.number == fields::HloLayout::kElementBits) element_bits = l.as_int();
          if (l.number == fields::HloLayout::kMemorySpace) memory_space = l.as_int();
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
      case fields::OpMetadata::kOpType:
        out.op_type = text_of(f);
        break;
      case fields::OpMetadata::kOpName:
        out.op_name = text_of(f);
        break;
      case fields::OpMetadata::kSourceFile:
        out.source_file = text_of(f);
        break;
      case fields::OpMetadata::kSourceLine:
        out.source_line = static_cast<int32_t>(f.as_int());
        break;
      case fields::OpMetadata::kDeduplicatedName:
        out.deduplicated_name = text_of(f);
        break;
      case fields::OpMetadata::kStackFrame:
        out.stack_frame = static_cast<int32_t>(f.as_int());
        break;
      case fields::OpMetadata::kSourceEndLine:
        out.source_end_line = static_cast<int32_t>(f.as_int());
        break;
      case fields::OpMetadata::kSourceColumn:
        out.source_column = static_cast<int32_t>(f.as_int());
        break;
      case fields::OpMetadata::kSourceEndColumn:
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
    if (f.number == fields::WindowDimension::kSize) d.size = v;
    if (f.number == fields::WindowDimension::kStride) d.stride = v;
    if (f.number == fields::WindowDimension::kPaddingLow) d.padding_low = v;
    if (f.number == fields::WindowDimension::kPaddingHigh) d.padding_high = v;
    if (f.number == fields::WindowDimension::kWindowDilation) d.window_dilation = v;
    if (f.number == fields::WindowDimension::kBaseDilation) d.base_dilation = v;
    if (f.number == fields::WindowDimension::kReversed) d.reversed = v != 0;
  }
  return d;
}

Convolution parse_convolution(Bytes message) {
  Convolution c;
  c.present = true;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == fields::ConvolutionDimensions::kKernelInputFeature)
      c.kernel_input_feature = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kKernelOutputFeature)
      c.kernel_output_feature = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kKernelSpatial)
      push_varints(f, c.kernel_spatial);
    if (f.number == fields::ConvolutionDimensions::kInputBatch) c.input_batch = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kInputFeature) c.input_feature = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kOutputBatch) c.output_batch = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kOutputFeature) c.output_feature = f.as_int();
    if (f.number == fields::ConvolutionDimensions::kInputSpatial) push_varints(f, c.input_spatial);
    if (f.number == fields::ConvolutionDimensions::kOutputSpatial)
      push_varints(f, c.output_spatial);
  }
  return c;
}

Dot parse_dot(Bytes message) {
  Dot dot;
  dot.present = true;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == fields::DotDimensions::kLhsContracting) push_varints(f, dot.lhs_contracting);
    if (f.number == fields::DotDimensions::kRhsContracting) push_varints(f, dot.rhs_contracting);
    if (f.number == fields::DotDimensions::kLhsBatch) push_varints(f, dot.lhs_batch);
    if (f.number == fields::DotDimensions::kRhsBatch) push_varints(f, dot.rhs_batch);
  }
  return dot;
}

Instruction parse_instruction(Bytes message) {
  Instruction out;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case fields::HloInstruction::kName:
        out.name = text_of(f);
        break;
      case fields::HloInstruction::kOpcode:
        out.opcode = text_of(f);
        break;
      case fields::HloInstruction::kShape:
        if (f.is_bytes()) out.shape = parse_shape(f.bytes, 0);
        break;
      case fields::HloInstruction::kMetadata:
        if (f.is_bytes()) parse_metadata(f.bytes, out);
        break;
      case fields::HloInstruction::kLiteral:
        out.literal.assign(f.text());
        break;
      case fields::HloInstruction::kParameterNumber:
        out.parameter_number = f.as_int();
        break;
      case fields::HloInstruction::kFusionKind:
        out.fusion_kind = text_of(f);
        break;
      case fields::HloInstruction::kTupleIndex:
        out.tuple_index = f.as_int();
        break;
      case fields::HloInstruction::kDimensions:
        push_varints(f, out.dimensions);
        break;
      case fields::HloInstruction::kWindow: {
        wire::Cursor window(f.bytes);
        for (wire::Field d; window.next(d);) {
          if (d.number == fields::HloWindow::kDimensions && d.is_bytes())
            out.window.push_back(parse_window_dimension(d.bytes));
        }
        break;
      }
      case fields::HloInstruction::kConvolution:
        if (f.is_bytes()) out.convolution = parse_convolution(f.bytes);
        break;
      case fields::HloInstruction::kSliceDimensions: {
        SliceDimension slice;
        wire::Cursor dimension(f.bytes);
        for (wire::Field d; dimension.next(d);) {
          if (d.number == fields::SliceDimension::kStart) slice.start = d.as_int();
          if (d.number == fields::SliceDimension::kLimit) slice.limit = d.as_int();
          if (d.number == fields::SliceDimension::kStride) slice.stride = d.as_int();
        }
        out.slices.push_back(slice);
        break;
      }
      case fields::HloInstruction::kChannelId:
        out.channel_id = f.as_int();
        break;
      case fields::HloInstruction::kCustomCallTarget:
        out.custom_call_target = text_of(f);
        break;
      case fields::HloInstruction::kDot:
        if (f.is_bytes()) out.dot = parse_dot(f.bytes);
        break;
      case fields::HloInstruction::kId:
        out.id = f.as_int();
        break;
      case fields::HloInstruction::kOperands:
        push_varints(f, out.operands);
        break;
      case fields::HloInstruction::kControlPredecessors:
        push_varints(f, out.control_predecessors);
        break;
      case fields::HloInstruction::kCalledComputations:
        push_varints(f, out.called);
        break;
      case fields::HloInstruction::kBackendConfig:
        out.backend_config = text_of(f);
        break;
      case fields::HloInstruction::kFeatureGroups:
        out.feature_groups = f.as_int();
        break;
      case fields::HloInstruction::kConstrainsLayout:
        out.has_operand_layouts = f.as_bool();
        break;
      case fields::HloInstruction::kOperandShapesWithLayout:
        if (f.is_bytes()) out.operand_layouts.push_back(parse_shape(f.bytes, 0));
        break;
      case fields::HloInstruction::kBatchGroups:
        out.batch_groups = f.as_int();
        break;
      case fields::HloInstruction::kComparisonDirection:
        out.comparison = text_of(f);
        break;
      case fields::HloInstruction::kHasSideEffect:
        out.has_side_effect = f.as_bool();
        break;
      case fields::HloInstruction::kFrontendAttributes:
        out.frontend_attributes.assign(f.text());
        break;
      case fields::HloInstruction::kCustomCallApiVersion:
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
      case fields::HloComputation::kName:
        computation.name = text_of(f);
        break;
      case fields::HloComputation::kInstructions:
        if (f.is_bytes()) {
          module.instructions.push_back(parse_instruction(f.bytes));
          module.instructions.back().computation = index;
        }
        break;
      case fields::HloComputation::kId:
        computation.id = f.as_int();
        break;
      case fields::HloComputation::kRootId:
        computation.root = f.as_int();
        break;
      case fields::HloComputation::kIsFusion:
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
    if (f.number == fields::StackFrameIndex::kFileNames) module.file_names.push_back(text_of(f));
    if (f.number == fields::StackFrameIndex::kFunctionNames)
      module.function_names.push_back(text_of(f));
    if (f.number == fields::StackFrameIndex::kFileLocations) {
      Module::Location location;
      wire::Cursor l(f.bytes);
      for (wire::Field x; l.next(x);) {
        const auto v = static_cast<int32_t>(x.as_int());
        if (x.number == fields::FileLocation::kFileName) location.file = v;
        if (x.number == fields::FileLocation::kFunctionName) location.function = v;
        if (x.number == fields::FileLocation::kLine) location.line = v;
        if (x.number == fields::FileLocation::kColumn) location.column = v;
      }
      module.locations.push_back(location);
    }
    if (f.number == fields::StackFrameIndex::kStackFrames) {
      Module::Frame frame;
      wire::Cursor l(f.bytes);
      for (wire::Field x; l.next(x);) {
        if (x.number == fields::StackFrame::kFileLocation)
          frame.location = static_cast<int32_t>(x.as_int());
        if (x.number == fields::StackFrame::kParent)
          frame.parent = static_cast<int32_t>(x.as_int());
      }
      module.frames.push_back(frame);
    }
  }
}

void parse_schedule(Bytes message, Module& module) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != fields::HloSchedule::kSequences || !f.is_bytes()) continue;
    int64_t computation = 0;
    std::vector<int64_t> ids;
    wire::Cursor entry(f.bytes);
    for (wire::Field e; entry.next(e);) {
      if (e.number == fields::MapEntry::kKey) computation = e.as_int();
      if (e.number != fields::MapEntry::kValue || !e.is_bytes()) continue;
      wire::Cursor sequence(e.bytes);
      for (wire::Field s; sequence.next(s);) {
        if (s.number == fields::InstructionSequence::kIds) push_varints(s, ids);
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
    if (f.number == fields::HloProto::kModule && f.is_bytes()) body = f.bytes;
    if (f.number == fields::HloProto::kBufferAssignment && f.is_bytes())
      module.buffer_assignment = f.bytes;
  }
  if (!cursor.ok() && body.empty())
    return fail(Code::kCorrupt, "an HLO module in the capture cannot be decoded");
  wire::Cursor parts(body);
  for (wire::Field f; parts.next(f);) {
    switch (f.number) {
      case fields::HloModule::kName:
        module.name = text_of(f);
        break;
      case fields::HloModule::kEntryName:
        module.entry_name = text_of(f);
        break;
      case fields::HloModule::kComputations:
        if (f.is_bytes()) parse_computation(f.bytes, module);
        break;
      case fields::HloModule::kEntryId:
        module.entry_id = f.as_int();
        break;
      case fields::HloModule::kSchedule:
        if (f.is_bytes()) parse_schedule(f.bytes, module);
        break;
      case fields::HloModule::kStackFrameIndex:
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
