#include "graph/pbtxt.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "codec/wire.h"

namespace sonde::graph {
namespace {

constexpr size_t kMaxDepth = 100;

using Occurrences = std::vector<std::pair<const FieldSchema*, wire::Field>>;

const FieldSchema* field_of(const MessageSchema& schema, uint32_t number) {
  const auto found = std::lower_bound(
      schema.fields.begin(), schema.fields.end(), number,
      [](const FieldSchema& field, uint32_t wanted) { return field.number < wanted; });
  return found != schema.fields.end() && found->number == number ? &*found : nullptr;
}

void append_text(std::string& out, std::string_view text, FieldKind kind) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\'':
        out += "\\'";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && kind == FieldKind::kBytes)) {
          char octal[5];
          std::snprintf(octal, sizeof octal, "\\%03o", byte);
          out += octal;
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

// The few digits that usually suffice, else as many as always do; in the style of %g.
void append_real(std::string& out, double value, bool is_float) {
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value > 0 ? "inf" : "-inf";
  } else {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", is_float ? 6 : 15, value);
    const bool is_exact = is_float ? std::strtof(text, nullptr) == static_cast<float>(value)
                                   : std::strtod(text, nullptr) == value;
    if (!is_exact) std::snprintf(text, sizeof text, "%.*g", is_float ? 9 : 17, value);
    out += text;
  }
}

template <class T>
void append_integer(std::string& out, T value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  // `parts` are joined: several occurrences of a message that is not repeated are one message.
  bool message(std::span<const Bytes> parts, const MessageSchema& schema, size_t depth) {
    if (depth > kMaxDepth) {
      too_deep_ = true;
      return false;
    }
    Occurrences found;
    for (const Bytes part : parts) {
      wire::Cursor cursor(part);
      for (wire::Field field; cursor.next(field);) {
        if (const FieldSchema* known = field_of(schema, field.number))
          found.emplace_back(known, field);
      }
      if (!cursor.ok()) return false;
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first->number < b.first->number;
    });
    const FieldSchema* chosen = chosen_member(parts, schema);
    for (size_t i = 0; i < found.size();) {
      size_t end = i + 1;
      while (end < found.size() && found[end].first == found[i].first) ++end;
      const FieldSchema& schema_field = *found[i].first;
      const std::span same(found.data() + i, end - i);
      if (schema_field.presence != Presence::kOneof || &schema_field == chosen) {
        if (!field(schema_field, same, depth)) return false;
      }
      i = end;
    }
    return true;
  }

  bool too_deep() const { return too_deep_; }

 private:
  using Same = std::span<const std::pair<const FieldSchema*, wire::Field>>;

  // The member of the message's oneof that was set last; no message here has two oneofs.
  static const FieldSchema* chosen_member(std::span<const Bytes> parts,
                                          const MessageSchema& schema) {
    const FieldSchema* chosen = nullptr;
    for (const Bytes part : parts) {
      wire::Cursor cursor(part);
      for (wire::Field field; cursor.next(field);) {
        const FieldSchema* known = field_of(schema, field.number);
        if (known && known->presence == Presence::kOneof) chosen = known;
      }
    }
    return chosen;
  }

  bool field(const FieldSchema& schema, Same same, size_t depth) {
    if (schema.presence == Presence::kMap) return map(schema, same, depth);
    if (schema.kind == FieldKind::kMessage) {
      std::vector<Bytes> parts;
      for (const auto& [unused, occurrence] : same) {
        if (!occurrence.is_bytes()) return false;
        if (schema.presence == Presence::kRepeated) {
          if (!sub_message(schema.name, {&occurrence.bytes, 1}, *schema.message, depth))
            return false;
        } else {
          parts.push_back(occurrence.bytes);
        }
      }
      return parts.empty() || sub_message(schema.name, parts, *schema.message, depth);
    }
    if (schema.presence == Presence::kRepeated) {
      return std::all_of(same.begin(), same.end(),
                         [&](const auto& item) { return repeated(schema, item.second, depth); });
    }
    const wire::Field& last = same.back().second;
    if (schema.presence == Presence::kImplicit && is_default(last)) return true;
    scalar(schema, last, depth);
    return true;
  }

  static bool is_default(const wire::Field& field) {
    return field.is_bytes() ? field.bytes.empty() : field.bits == 0;
  }

  bool repeated(const FieldSchema& schema, const wire::Field& field, size_t depth) {
    const bool is_packable = schema.kind != FieldKind::kString && schema.kind != FieldKind::kBytes;
    if (!is_packable || !field.is_bytes()) {
      scalar(schema, field, depth);
      return true;
    }
    const auto one = [&](uint64_t bits) {
      wire::Field element;
      element.bits = bits;
      scalar(schema, element, depth);
    };
    switch (schema.kind) {
      case FieldKind::kFloat:
        return wire::for_each_fixed<uint32_t>(field, one);
      case FieldKind::kDouble:
      case FieldKind::kFixed64:
        return wire::for_each_fixed<uint64_t>(field, one);
      default:
        return wire::for_each_varint(field, one);
    }
  }

  bool sub_message(std::string_view name, std::span<const Bytes> parts, const MessageSchema& schema,
                   size_t depth) {
    indent(depth);
    out_.append(name);
    out_ += " {\n";
    if (!message(parts, schema, depth + 1)) return false;
    indent(depth);
    out_ += "}\n";
    return true;
  }

  struct Entry {
    std::string_view text;  // the key when it is a string
    uint64_t number = 0;    // the key when it is a number
    wire::Field key, value;
    bool has_value = false;
  };

  // Text keys: descending by their common part, then the shorter first; that is how protobuf's
  // printer sorts them, so graphs compare equal line by line.
  static bool comes_before(const Entry& a, const Entry& b) {
    if (a.number != b.number) return a.number < b.number;
    const size_t common = std::min(a.text.size(), b.text.size());
    const int order = a.text.substr(0, common).compare(b.text.substr(0, common));
    return order != 0 ? order > 0 : a.text.size() < b.text.size();
  }

  bool map(const FieldSchema& schema, Same same, size_t depth) {
    std::vector<Entry> entries;
    for (const auto& [unused, occurrence] : same) {
      if (!occurrence.is_bytes()) return false;
      Entry entry;
      wire::Cursor cursor(occurrence.bytes);
      for (wire::Field part; cursor.next(part);) {
        if (part.number == 1) entry.key = part;
        if (part.number == 2) {
          entry.value = part;
          entry.has_value = true;
        }
      }
      if (!cursor.ok()) return false;
      entry.text = entry.key.text();
      entry.number = entry.key.is_bytes() ? 0 : entry.key.bits;
      entries.push_back(entry);
    }
    std::stable_sort(entries.begin(), entries.end(), comes_before);
    const FieldSchema& key = schema.message->fields[0];
    const FieldSchema& value = schema.message->fields[1];
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& entry = entries[i];
      const bool is_replaced = i + 1 < entries.size() && entries[i + 1].text == entry.text &&
                               entries[i + 1].number == entry.number;
      if (is_replaced) continue;  // a later entry of the same key wins
      indent(depth);
      out_.append(schema.name);
      out_ += " {\n";
      scalar(key, entry.key, depth + 1);
      if (value.kind != FieldKind::kMessage) {
        scalar(value, entry.value, depth + 1);
      } else if (!sub_message(value.name, {&entry.value.bytes, 1}, *value.message, depth + 1)) {
        return false;
      }
      indent(depth);
      out_ += "}\n";
    }
    return true;
  }

  void scalar(const FieldSchema& schema, const wire::Field& field, size_t depth) {
    indent(depth);
    out_.append(schema.name);
    out_ += ": ";
    switch (schema.kind) {
      case FieldKind::kInt32:
        append_integer(out_, static_cast<int32_t>(field.bits));
        break;
      case FieldKind::kInt64:
        append_integer(out_, field.as_int());
        break;
      case FieldKind::kUint32:
        append_integer(out_, static_cast<uint32_t>(field.bits));
        break;
      case FieldKind::kUint64:
      case FieldKind::kFixed64:
        append_integer(out_, field.as_uint());
        break;
      case FieldKind::kBool:
        out_ += field.as_bool() ? "true" : "false";
        break;
      case FieldKind::kFloat:
        append_real(out_, field.as_float(), true);
        break;
      case FieldKind::kDouble:
        append_real(out_, field.as_double(), false);
        break;
      case FieldKind::kEnum:
        enumerator(schema, static_cast<int32_t>(field.bits));
        break;
      case FieldKind::kString:
      case FieldKind::kBytes:
      case FieldKind::kMessage:
        append_text(out_, field.text(), schema.kind);
        break;
    }
    out_.push_back('\n');
  }

  void enumerator(const FieldSchema& schema, int32_t number) {
    const auto found = std::find_if(schema.names.begin(), schema.names.end(),
                                    [&](const EnumName& name) { return name.number == number; });
    if (found != schema.names.end()) {
      out_.append(found->name);
    } else {
      append_integer(out_, number);
    }
  }

  void indent(size_t depth) { out_.append(depth * 2, ' '); }

  std::string& out_;
  bool too_deep_ = false;
};

}  // namespace

Result<std::string> to_pbtxt(Bytes message, const MessageSchema& schema) {
  std::string out;
  out.reserve(message.size() * 3);
  Printer printer(out);
  if (printer.message({&message, 1}, schema, 0)) return out;
  if (printer.too_deep()) {
    return fail(Code::kTooLarge, std::string(schema.name) + " is nested deeper than 100 messages");
  }
  return fail(Code::kCorrupt, "the bytes are no " + std::string(schema.name));
}

}  // namespace sonde::graph
