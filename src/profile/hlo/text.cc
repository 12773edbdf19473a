#include "profile/hlo/text.h"

#include <fmt/format.h>

#include "base/wire.h"

namespace sonde::profile::hlo {
namespace {

std::string joined(const std::vector<int64_t>& values) {
  return fmt::format("{{{}}}", fmt::join(values, ","));
}

std::string by_x(const std::vector<WindowDimension>& window, auto value) {
  std::string out;
  for (const WindowDimension& d : window) {
    if (!out.empty()) out += "x";
    out += value(d);
  }
  return out;
}

std::string window_text(const std::vector<WindowDimension>& window) {
  const auto any = [&](auto differs) {
    for (const WindowDimension& d : window) {
      if (differs(d)) return true;
    }
    return false;
  };
  std::string out = "size=" + by_x(window, [](const auto& d) { return fmt::format("{}", d.size); });
  if (any([](const auto& d) { return d.stride != 1; }))
    out += " stride=" + by_x(window, [](const auto& d) { return fmt::format("{}", d.stride); });
  if (any([](const auto& d) { return d.padding_low != 0 || d.padding_high != 0; })) {
    out += " pad=" + by_x(window, [](const auto& d) {
             return fmt::format("{}_{}", d.padding_low, d.padding_high);
           });
  }
  if (any([](const auto& d) { return d.base_dilation != 1; }))
    out += " lhs_dilate=" +
           by_x(window, [](const auto& d) { return fmt::format("{}", d.base_dilation); });
  if (any([](const auto& d) { return d.window_dilation != 1; }))
    out += " rhs_dilate=" +
           by_x(window, [](const auto& d) { return fmt::format("{}", d.window_dilation); });
  if (any([](const auto& d) { return d.reversed; }))
    out += " rhs_reversal=" +
           by_x(window, [](const auto& d) { return fmt::format("{}", d.reversed ? 1 : 0); });
  return out;
}

std::string labels_of(size_t rank, std::initializer_list<std::pair<int64_t, char>> named,
                      const std::vector<int64_t>& spatial) {
  std::string labels(rank, '?');
  const auto put = [&](int64_t at, char c) {
    if (at >= 0 && static_cast<size_t>(at) < rank) labels[static_cast<size_t>(at)] = c;
  };
  for (const auto& [at, c] : named) put(at, c);
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i % 10));
  return labels;
}

std::string dimension_labels(const Convolution& c) {
  const size_t rank = c.input_spatial.size() + 2;
  return labels_of(rank, {{c.input_batch, 'b'}, {c.input_feature, 'f'}}, c.input_spatial) + "_" +
         labels_of(rank, {{c.kernel_input_feature, 'i'}, {c.kernel_output_feature, 'o'}},
                   c.kernel_spatial) +
         "->" + labels_of(rank, {{c.output_batch, 'b'}, {c.output_feature, 'f'}}, c.output_spatial);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// The value of a scalar constant; "{...}" for anything larger.
std::string literal_text(const Instruction& i) {
  if (i.shape.is_tuple() || !i.shape.dimensions.empty()) return "{...}";
  wire::Cursor cursor(as_bytes(i.literal));
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) continue;  // shape
    const auto element = [&](auto fn) {
      std::string out;
      (void)wire::for_each_varint(f, [&](uint64_t v) {
        if (out.empty()) out = fn(v);
      });
      return out;
    };
    switch (f.number) {
      case 2:
        return element([](uint64_t v) { return std::string(v != 0 ? "true" : "false"); });
      case 4:
      case 5:
        return element([](uint64_t v) { return fmt::format("{}", static_cast<int64_t>(v)); });
      case 6:
      case 7:
        return element([](uint64_t v) { return fmt::format("{}", v); });
      case 8: {
        std::string out;
        (void)wire::for_each_fixed<float>(f, [&](float v) { out = fmt::format("{:.9g}", v); });
        return out;
      }
      case 9: {
        std::string out;
        (void)wire::for_each_fixed<double>(f, [&](double v) { out = fmt::format("{:.17g}", v); });
        return out;
      }
      default:
        break;
    }
  }
  return "{...}";
}

void add_attributes(const Module& module, const Instruction& i, TextStyle style,
                    std::vector<std::string>& out) {
  const std::string_view op = i.opcode;
  if (op == "fusion" && !i.fusion_kind.empty()) out.push_back("kind=" + i.fusion_kind);
  if (!i.window.empty()) out.push_back("window={" + window_text(i.window) + "}");
  if (!i.dimensions.empty() || op == "broadcast" || op == "reduce" || op == "concatenate" ||
      op == "transpose") {
    if (op == "iota") {
      out.push_back(fmt::format("iota_dimension={}", i.dimensions.empty() ? 0 : i.dimensions[0]));
    } else {
      out.push_back("dimensions=" + joined(i.dimensions));
    }
  }
  if (!i.slices.empty()) {
    std::vector<std::string> parts;
    for (const SliceDimension& s : i.slices) {
      parts.push_back(s.stride == 1 ? fmt::format("[{}:{}]", s.start, s.limit)
                                    : fmt::format("[{}:{}:{}]", s.start, s.limit, s.stride));
    }
    out.push_back(fmt::format("slice={{{}}}", fmt::join(parts, ", ")));
  }
  if (i.convolution.present) out.push_back("dim_labels=" + dimension_labels(i.convolution));
  if (i.dot.present && op != "custom-call") {
    if (!i.dot.lhs_batch.empty()) out.push_back("lhs_batch_dims=" + joined(i.dot.lhs_batch));
    out.push_back("lhs_contracting_dims=" + joined(i.dot.lhs_contracting));
    if (!i.dot.rhs_batch.empty()) out.push_back("rhs_batch_dims=" + joined(i.dot.rhs_batch));
    out.push_back("rhs_contracting_dims=" + joined(i.dot.rhs_contracting));
  }
  if (op == "get-tuple-element") out.push_back(fmt::format("index={}", i.tuple_index));
  if (!i.comparison.empty()) out.push_back("direction=" + i.comparison);
  if (i.channel_id != 0) out.push_back(fmt::format("channel_id={}", i.channel_id));
  const auto called = [&](size_t n) {
    const Computation* c = n < i.called.size() ? module.computation(i.called[n]) : nullptr;
    return c ? "%" + c->name : std::string("%?");
  };
  if (op == "while" && i.called.size() == 2) {
    out.push_back("condition=" + called(1));
    out.push_back("body=" + called(0));
  } else if (op == "fusion") {
    out.push_back("calls=" + called(0));
  } else if (op == "conditional") {
    std::vector<std::string> names;
    for (size_t n = 0; n < i.called.size(); ++n) names.push_back(called(n));
    out.push_back(fmt::format("branch_computations={{{}}}", fmt::join(names, ", ")));
  } else if (!i.called.empty()) {
    out.push_back((op == "custom-call" ? "called_computations={" + called(0) + "}"
                                       : "to_apply=" + called(0)));
  }
  if (!i.custom_call_target.empty())
    out.push_back(fmt::format("custom_call_target=\"{}\"", escaped(i.custom_call_target)));
  if (i.feature_groups > 1) out.push_back(fmt::format("feature_group_count={}", i.feature_groups));
  if (i.batch_groups > 1) out.push_back(fmt::format("batch_group_count={}", i.batch_groups));
  if (style != TextStyle::kLong) return;
  if (!i.op_name.empty() || !i.op_type.empty() || !i.source_file.empty()) {
    std::string metadata;
    if (!i.op_type.empty()) metadata += fmt::format("op_type=\"{}\" ", escaped(i.op_type));
    if (!i.op_name.empty()) metadata += fmt::format("op_name=\"{}\" ", escaped(i.op_name));
    if (!i.source_file.empty())
      metadata +=
          fmt::format("source_file=\"{}\" source_line={} ", escaped(i.source_file), i.source_line);
    metadata.pop_back();
    out.push_back("metadata={" + metadata + "}");
  }
  if (!i.backend_config.empty()) {
    out.push_back(i.backend_config.starts_with("{")
                      ? "backend_config=" + i.backend_config
                      : fmt::format("backend_config=\"{}\"", escaped(i.backend_config)));
  }
}

}  // namespace

std::string instruction_text(const Module& module, const Instruction& i, TextStyle style) {
  std::string out = "%" + i.name + " = " + i.shape.text(true) + " " + i.opcode + "(";
  if (i.opcode == "parameter") {
    out += fmt::format("{}", i.parameter_number);
  } else if (i.opcode == "constant") {
    out += literal_text(i);
  } else {
    for (size_t n = 0; n < i.operands.size(); ++n) {
      if (n != 0) out += n % 5 == 0 ? fmt::format(", /*index={}*/", n) : ", ";
      const Instruction* operand = module.with_id(i.operands[n]);
      if (!operand) {
        out += "%?";
        continue;
      }
      if (style != TextStyle::kShort) out += operand->shape.text(true) + " ";
      out += "%" + operand->name;
    }
  }
  out += ")";
  std::vector<std::string> attributes;
  add_attributes(module, i, style, attributes);
  for (const std::string& attribute : attributes) out += ", " + attribute;
  return out;
}

std::string module_text(const Module& module, TextStyle style) {
  std::string out = "HloModule " + module.name + "\n";
  for (const Computation& c : module.computations) {
    out += "\n";
    if (c.id == module.entry_id) out += "ENTRY ";
    out += "%" + c.name + " {\n";
    for (uint32_t k = 0; k < c.count; ++k) {
      const Instruction& i = module.instructions[c.first + k];
      out += i.is_root ? "  ROOT " : "  ";
      out += instruction_text(module, i, style) + "\n";
    }
    out += "}\n";
  }
  return out;
}

}  // namespace sonde::profile::hlo
