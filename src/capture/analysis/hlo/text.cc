#include "capture/analysis/hlo/text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>

#include "codec/wire.h"

namespace sonde::capture::hlo {
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

template <class T>
void add_packed(Bytes bytes, std::vector<std::string>& out, auto text) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    out.push_back(text(value));
  }
}

// A number with as many digits as every number of its type survives; when that is not enough to
// read this one back, with as many as are ever needed.
template <class T>
std::string round_trip(T value) {
  constexpr int kSafe = std::numeric_limits<T>::digits10,
                kAll = std::numeric_limits<T>::max_digits10;
  std::string text = fmt::format("{:.{}g}", value, kSafe);
  T back{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), back);
  return read.ec == std::errc() && back == value ? text : fmt::format("{:.{}g}", value, kAll);
}

// The elements of a literal, as far as their type is one of the plain ones.
std::vector<std::string> elements_of(const Instruction& i) {
  std::vector<std::string> out;
  const auto plain = [](auto v) { return fmt::format("{}", v); };
  wire::Cursor cursor(as_bytes(i.literal));
  for (wire::Field f; cursor.next(f);) {
    const auto varints = [&](auto text) {
      (void)wire::for_each_varint(f, [&](uint64_t v) { out.push_back(text(v)); });
    };
    switch (f.number) {
      case 2:
        varints([](uint64_t v) { return std::string(v != 0 ? "true" : "false"); });
        break;
      case 4:
        varints([](uint64_t v) { return fmt::format("{}", static_cast<int32_t>(v)); });
        break;
      case 5:
        varints([](uint64_t v) { return fmt::format("{}", static_cast<int64_t>(v)); });
        break;
      case 6:
      case 7:
        varints([](uint64_t v) { return fmt::format("{}", v); });
        break;
      case 8:
        (void)wire::for_each_fixed<float>(f, [&](float v) { out.push_back(round_trip(v)); });
        break;
      case 9:
        (void)wire::for_each_fixed<double>(f, [&](double v) { out.push_back(round_trip(v)); });
        break;
      case 13:
        add_packed<uint16_t>(f.bytes, out, [](uint16_t v) {
          return fmt::format("{:.4g}", std::bit_cast<float>(uint32_t{v} << 16));
        });
        break;
      case 16:
        add_packed<uint16_t>(f.bytes, out, plain);
        break;
      case 17:
        add_packed<int16_t>(f.bytes, out, plain);
        break;
      default:
        break;
    }
  }
  return out;
}

// The value of a scalar or a short list; "{...}" for anything larger.
std::string literal_text(const Instruction& i) {
  constexpr int64_t kShown = 10;
  if (i.shape.is_tuple() || i.shape.dimensions.size() > 1) return "{...}";
  if (!i.shape.dimensions.empty() && i.shape.dimensions[0] > kShown) return "{...}";
  const std::vector<std::string> elements = elements_of(i);
  if (i.shape.dimensions.empty()) return elements.size() == 1 ? elements[0] : "{...}";
  if (static_cast<int64_t>(elements.size()) != i.shape.dimensions[0]) return "{...}";
  return fmt::format("{{{}}}", fmt::join(elements, ", "));
}

std::string index_text(const wire::Field& f) {
  std::vector<int64_t> index;
  (void)wire::for_each_varint(f, [&](uint64_t v) { index.push_back(static_cast<int64_t>(v)); });
  return fmt::format("{}", fmt::join(index, ", "));
}

// "{0}: (0, {}, may-alias)" for each result that may share its memory with a parameter.
std::string alias_text(Bytes message) {
  std::vector<std::string> entries;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    std::string result, index;
    int64_t parameter = 0, kind = 0;
    wire::Cursor entry(f.bytes);
    for (wire::Field e; entry.next(e);) {
      if (e.number == 1) result += (result.empty() ? "" : ", ") + index_text(e);
      if (e.number == 2) parameter = e.as_int();
      if (e.number == 3) index += (index.empty() ? "" : ", ") + index_text(e);
      if (e.number == 4) kind = e.as_int();
    }
    entries.push_back(fmt::format("{{{}}}: ({}, {{{}}}, {})", result, parameter, index,
                                  kind == 2 ? "must-alias" : "may-alias"));
  }
  return fmt::format("{}", fmt::join(entries, ", "));
}

// Attributes of the framework, by name; values that are lists themselves stand unquoted.
std::string frontend_text(Bytes message) {
  std::map<std::string, std::string> attributes;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    std::string key, value;
    wire::Cursor entry(f.bytes);
    for (wire::Field e; entry.next(e);) {
      if (e.number == 1) key = e.text();
      if (e.number == 2) value = e.text();
    }
    attributes[key] = value.starts_with("{") ? value : fmt::format("\"{}\"", escaped(value));
  }
  std::vector<std::string> list;
  for (const auto& [key, value] : attributes) list.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(list, ","));
}

// Names stand bare in the short style.
std::string_view sign(TextStyle style) { return style == TextStyle::kShort ? "" : "%"; }

std::string backend_config_text(const Instruction& i) {
  return i.backend_config.starts_with("{")
             ? "backend_config=" + i.backend_config
             : fmt::format("backend_config=\"{}\"", escaped(i.backend_config));
}

// How a custom call is made, behind the name of what it calls.
void add_custom_call(const Instruction& i, std::vector<std::string>& out) {
  constexpr std::string_view kVersions[] = {"UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING",
                                            "STATUS_RETURNING_UNIFIED", "TYPED_FFI"};
  if (i.custom_call_target.empty()) return;
  out.push_back(fmt::format("custom_call_target=\"{}\"", escaped(i.custom_call_target)));
  if (i.has_operand_layouts) {
    std::vector<std::string> layouts;
    for (const Shape& shape : i.operand_layouts) layouts.push_back(shape.text(true));
    out.push_back(fmt::format("operand_layout_constraints={{{}}}", fmt::join(layouts, ", ")));
  }
  if (i.has_side_effect) out.push_back("custom_call_has_side_effect=true");
  // The first two are the way of old, which needs no word.
  if (i.api_version > 1 && static_cast<size_t>(i.api_version) < std::size(kVersions))
    out.push_back(
        fmt::format("api_version=API_VERSION_{}", kVersions[static_cast<size_t>(i.api_version)]));
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
    return fmt::format("{}{}", sign(style), c ? c->name : std::string("?"));
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
  add_custom_call(i, out);
  if (i.feature_groups > 1) out.push_back(fmt::format("feature_group_count={}", i.feature_groups));
  if (i.batch_groups > 1) out.push_back(fmt::format("batch_group_count={}", i.batch_groups));
  if (style != TextStyle::kOneLine && !i.frontend_attributes.empty())
    out.push_back("frontend_attributes={" + frontend_text(as_bytes(i.frontend_attributes)) + "}");
  if (style == TextStyle::kShort && !i.backend_config.empty())
    out.push_back(backend_config_text(i));
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
  if (!i.backend_config.empty()) out.push_back(backend_config_text(i));
}

// What a module's first line says beside its name.
std::string header_text(const Module& module) {
  std::string out = "HloModule " + module.name;
  if (!module.schedule.empty()) out += ", is_scheduled=true";
  std::string alias, attributes;
  wire::Cursor whole(module.proto);
  for (wire::Field part; whole.next(part);) {
    if (part.number != 1 || !part.is_bytes()) continue;
    wire::Cursor fields(part.bytes);
    for (wire::Field f; fields.next(f);) {
      if (f.number == 8 && f.is_bytes()) alias = alias_text(f.bytes);
      if (f.number == 19 && f.is_bytes()) attributes = frontend_text(f.bytes);
    }
  }
  if (!alias.empty()) out += ", input_output_alias={ " + alias + " }";
  if (const Computation* entry = module.computation(module.entry_id)) {
    std::map<int64_t, std::string> parameters;
    std::string result;
    for (uint32_t k = 0; k < entry->count; ++k) {
      const Instruction& i = module.instructions[entry->first + k];
      if (i.opcode == "parameter") parameters[i.parameter_number] = i.shape.text(true);
      if (i.is_root) result = i.shape.text(true);
    }
    std::vector<std::string> list;
    for (const auto& [number, text] : parameters) {
      const bool counted = !list.empty() && list.size() % 5 == 0;
      list.push_back(counted ? fmt::format("/*index={}*/{}", list.size(), text) : text);
    }
    out += fmt::format(", entry_computation_layout={{({})->{}}}", fmt::join(list, ", "), result);
  }
  if (!attributes.empty()) out += ", frontend_attributes={" + attributes + "}";
  return out;
}

}  // namespace

std::string instruction_text(const Module& module, const Instruction& i, TextStyle style) {
  std::string out = fmt::format("{}{} = {} {}(", sign(style), i.name, i.shape.text(true), i.opcode);
  if (i.opcode == "parameter") {
    out += fmt::format("{}", i.parameter_number);
  } else if (i.opcode == "constant") {
    out += literal_text(i);
  } else {
    for (size_t n = 0; n < i.operands.size(); ++n) {
      if (n != 0) {
        const bool counted = n % 5 == 0 && style != TextStyle::kShort;
        out += counted ? fmt::format(", /*index={}*/", n) : ", ";
      }
      const Instruction* operand = module.with_id(i.operands[n]);
      if (!operand) {
        out += fmt::format("{}?", sign(style));
        continue;
      }
      if (style != TextStyle::kShort) out += operand->shape.text(true) + " ";
      out += fmt::format("{}{}", sign(style), operand->name);
    }
  }
  out += ")";
  std::vector<std::string> attributes;
  add_attributes(module, i, style, attributes);
  for (const std::string& attribute : attributes) out += ", " + attribute;
  return out;
}

namespace {

// A computation's instructions as they run where that is known, else as they stand in the file.
std::vector<const Instruction*> in_order(const Module& module, const Computation& c) {
  std::vector<const Instruction*> order;
  if (const auto scheduled = module.schedule.find(c.id); scheduled != module.schedule.end()) {
    for (const int64_t id : scheduled->second) {
      if (const Instruction* i = module.with_id(id)) order.push_back(i);
    }
    if (order.size() == c.count) return order;
    order.clear();
  }
  for (uint32_t k = 0; k < c.count; ++k) order.push_back(&module.instructions[c.first + k]);
  return order;
}

// Computations so that each comes after those it calls; the entry's callees in the order of their
// calls.
std::vector<const Computation*> callees_first(const Module& module) {
  std::vector<const Computation*> order;
  std::vector<bool> seen(module.computations.size(), false);
  struct Visit {
    const Computation* computation;
    std::vector<int64_t> calls;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto enter = [&](const Computation& c) {
    const auto at = static_cast<size_t>(&c - module.computations.data());
    if (seen[at]) return;
    seen[at] = true;
    Visit visit{&c, {}};
    for (const Instruction* i : in_order(module, c))
      visit.calls.insert(visit.calls.end(), i->called.begin(), i->called.end());
    stack.push_back(std::move(visit));
  };
  const auto finish = [&] {
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.calls.size()) {
        order.push_back(top.computation);
        stack.pop_back();
      } else if (const Computation* callee = module.computation(top.calls[top.next++])) {
        enter(*callee);  // top may move: not used after this
      }
    }
  };
  if (const Computation* entry = module.computation(module.entry_id)) enter(*entry);
  finish();
  for (const Computation& c : module.computations) {
    enter(c);
    finish();
  }
  return order;
}

}  // namespace

std::string module_text(const Module& module, TextStyle style) {
  std::string out = header_text(module) + "\n\n";
  for (const Computation* c : callees_first(module)) {
    if (c->id == module.entry_id) out += "ENTRY ";
    out += fmt::format("{}{} {{\n", sign(style), c->name);
    for (const Instruction* i : in_order(module, *c)) {
      out += i->is_root ? "  ROOT " : "  ";
      out += instruction_text(module, *i, style) + "\n";
    }
    out += "}\n\n";
  }
  return out;
}

}  // namespace sonde::capture::hlo
