#include "codec/json.h"

#include <charconv>
#include <cmath>

#include "base/number_text.h"
#include "base/strings.h"

namespace sonde {
namespace {

template <class T>
void append_chars(std::string& out, T value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

template <class T>
void append_real(std::string& out, T value) {
  if (std::isfinite(value)) {
    char text[kMaxRealText + 2];
    char* const end = write_json_number(text, value);
    out.append(text, static_cast<size_t>(end - text));
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

enum class Beyond : uint8_t { kAsIs, kEscaped };  // what is not ASCII

void append_unit(std::string& out, uint32_t unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[unit >> shift & 15]);
}

// The code point that begins at text[at], which is UTF-8, as one or two units; returns its length.
size_t append_code_point(std::string& out, std::string_view text, size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  const size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  uint32_t code = length == 1 ? c : c & (0xffu >> (length + 1));
  for (size_t k = 1; k < length; ++k)
    code = code << 6 | (static_cast<unsigned char>(text[at + k]) & 0x3f);
  if (code < 0x10000) {
    append_unit(out, code);
  } else {
    append_unit(out, 0xd800 + ((code - 0x10000) >> 10));
    append_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
  }
  return length;
}

template <Beyond kBeyond>
void append_string(std::string& out, std::string_view text) {
  std::string repaired;
  if (!is_utf8(text)) text = repaired = to_utf8(text);
  out.push_back('"');
  size_t clean = 0;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && (kBeyond == Beyond::kAsIs || c < 0x7f)) {
      ++i;
      continue;
    }
    out.append(text.substr(clean, i - clean));
    size_t length = 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        length = append_code_point(out, text, i);
    }
    i += length;
    clean = i;
  }
  out.append(text.substr(clean));
  out.push_back('"');
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  append_string<Beyond::kAsIs>(out, text);
}

void append_ascii_json_string(std::string& out, std::string_view text) {
  append_string<Beyond::kEscaped>(out, text);
}

void append_json_number(std::string& out, double value) { append_real(out, value); }

JsonWriter& JsonWriter::key(std::string_view name) {
  comma();
  append_json_string(out_, name);
  out_.push_back(':');
  first_ = true;  // the value follows without a comma
  return *this;
}

void JsonWriter::string(std::string_view text) {
  comma();
  append_json_string(out_, text);
}

void JsonWriter::number(double value) {
  comma();
  append_real(out_, value);
}

void JsonWriter::number(float value) {
  comma();
  append_real(out_, value);
}

void JsonWriter::number(int64_t value) {
  comma();
  append_chars(out_, value);
}

void JsonWriter::number(uint64_t value) {
  comma();
  append_chars(out_, value);
}

void JsonWriter::safe_integer(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value > -kExact && value < kExact) return number(value);
  string(std::to_string(value));
}

void JsonWriter::boolean(bool value) {
  comma();
  out_ += value ? "true" : "false";
}

void JsonWriter::null() {
  comma();
  out_ += "null";
}

void JsonWriter::raw(std::string_view json) {
  comma();
  out_.append(json);
}

}  // namespace sonde
