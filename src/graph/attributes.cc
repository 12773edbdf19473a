#include "graph/attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "codec/wire.h"
#include "log/event/tensor.h"

namespace sonde::graph {
namespace {

constexpr int kMaxNesting = 8;

std::string quoted(std::string_view bytes) {
  return is_utf8(bytes) ? fmt::format("\"{}\"", bytes) : fmt::format("<{} bytes>", bytes.size());
}

std::string shape_text(Bytes shape) {
  std::string text = "[";
  bool unknown = false;
  wire::Cursor cursor(shape);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 3) unknown = f.as_bool();
    if (f.number != 2) continue;
    int64_t size = 0;
    wire::Cursor dim(f.bytes);
    for (wire::Field d; dim.next(d);) {
      if (d.number == 1) size = d.as_int();
    }
    if (text.size() > 1) text += ", ";
    text += size < 0 ? "?" : std::to_string(size);
  }
  return unknown ? "unknown shape" : text + "]";
}

std::string_view type_name(uint64_t type) {
  return event::name_of(static_cast<event::DataType>(type % 100));  // +100 marks a reference type
}

std::string tensor_text(Bytes tensor) {
  uint64_t type = 0;
  std::string shape = "[]";
  wire::Cursor cursor(tensor);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) type = f.as_uint();
    if (f.number == 2) shape = shape_text(f.bytes);
  }
  return fmt::format("{} {} ({} bytes)", type_name(type), shape, tensor.size());
}

// One field of AttrValue, or an element of its list (numbers shared but for the list's missing 1).
std::string value_text(Bytes value, int depth);

std::string field_text(const wire::Field& f, int depth) {
  switch (f.number) {
    case 1: {
      if (depth >= kMaxNesting) return "[…]";
      std::string text = "[";
      wire::Cursor list(f.bytes);
      for (wire::Field item; list.next(item) && text.size() < kMaxAttributeText;) {
        const bool packed = item.is_bytes() && item.number >= 3 && item.number <= 6;
        const auto add = [&](const wire::Field& element) {
          if (text.size() > 1) text += ", ";
          text += field_text(element, depth + 1);
        };
        if (!packed) {
          add(item);
          continue;
        }
        wire::Field element;
        element.number = item.number;
        const bool ok = item.number == 4 ? wire::for_each_fixed<uint32_t>(item,
                                                                          [&](uint32_t bits) {
                                                                            element.bits = bits;
                                                                            add(element);
                                                                          })
                                         : wire::for_each_varint(item, [&](uint64_t bits) {
                                             element.bits = bits;
                                             add(element);
                                           });
        if (!ok) text += "…";
      }
      return text + "]";
    }
    case 2:
      return quoted(f.text());
    case 3:
      return std::to_string(f.as_int());
    case 4:
      return fmt::format("{}", f.as_float());
    case 5:
      return f.as_bool() ? "true" : "false";
    case 6:
      return std::string(type_name(f.as_uint()));
    case 7:
      return shape_text(f.bytes);
    case 8:
      return tensor_text(f.bytes);
    case 9:
      return quoted(f.text());
    case 10: {
      wire::Cursor function(f.bytes);
      for (wire::Field name; function.next(name);) {
        if (name.number == 1) return fmt::format("function {}", name.text());
      }
      return "function";
    }
    default:
      return "";
  }
}

std::string value_text(Bytes value, int depth) {
  std::string text;
  wire::Cursor cursor(value);
  for (wire::Field f; cursor.next(f);) text = field_text(f, depth);  // a oneof: the last wins
  return text;
}

}  // namespace

std::vector<Attribute> attributes(Bytes node_def) {
  std::vector<Attribute> found;
  wire::Cursor cursor(node_def);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 5 || !f.is_bytes()) continue;
    Attribute attribute;
    wire::Cursor entry(f.bytes);
    for (wire::Field e; entry.next(e);) {
      if (e.number == 1) attribute.key = to_utf8(e.text());
      if (e.number != 2) continue;
      attribute.text = value_text(e.bytes, 0);
      attribute.size_bytes = e.bytes.size();
    }
    if (attribute.key == "_output_shapes") continue;
    if (attribute.text.size() > kMaxAttributeText) {
      attribute.text = to_utf8(attribute.text.substr(0, kMaxAttributeText)) + "…";
    }
    found.push_back(std::move(attribute));
  }
  std::sort(found.begin(), found.end(),
            [](const Attribute& a, const Attribute& b) { return a.key < b.key; });
  return found;
}

}  // namespace sonde::graph
