#include "capture/import/chrome_json/scanner.h"

#include <charconv>
#include <cmath>

namespace sonde::imports {
namespace {

constexpr int kMaxDepth = 512;

void append_utf8(std::string& out, uint32_t code) {
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code >> 6));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code >> 12));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out.push_back(static_cast<char>(0xf0 | code >> 18));
    out.push_back(static_cast<char>(0x80 | (code >> 12 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

bool parse_hex4(std::string_view text, size_t at, uint32_t& code) {
  if (at + 4 > text.size()) return false;
  const auto result = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  return result.ptr == text.data() + at + 4;
}

}  // namespace

// Passes over an object or array without looking at more than brackets and strings.
bool JsonScanner::skip_nested() {
  int depth = 0;
  JsonValue ignored;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!string(ignored)) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return false;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return true;
    }
  }
  return false;
}

std::string_view unescaped(const JsonValue& value, std::string& scratch) {
  if (!value.is_escaped) return value.text;
  scratch.clear();
  const std::string_view text = value.text;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      scratch.push_back(text[i]);
      continue;
    }
    switch (text[++i]) {
      case 'n':
        scratch.push_back('\n');
        break;
      case 't':
        scratch.push_back('\t');
        break;
      case 'r':
        scratch.push_back('\r');
        break;
      case 'b':
        scratch.push_back('\b');
        break;
      case 'f':
        scratch.push_back('\f');
        break;
      case '"':
      case '\\':
      case '/':
        scratch.push_back(text[i]);
        break;
      case 'u': {
        uint32_t code, low;
        if (!parse_hex4(text, i + 1, code)) {
          scratch += "\\u";
          break;
        }
        i += 4;
        const bool pair = code >= 0xd800 && code < 0xdc00 && text.substr(i + 1, 2) == "\\u" &&
                          parse_hex4(text, i + 3, low) && low >= 0xdc00 && low < 0xe000;
        if (pair) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        }
        append_utf8(scratch, code);
        break;
      }
      default:  // "C:\users": a backslash nobody escaped
        scratch.push_back('\\');
        scratch.push_back(text[i]);
    }
  }
  return scratch;
}

bool parse_nanos(std::string_view micros, int64_t& ns) {
  size_t i = 0;
  const bool negative = !micros.empty() && micros[0] == '-';
  if (negative || (!micros.empty() && micros[0] == '+')) ++i;
  constexpr int64_t kMost = INT64_MAX / 1000;
  int64_t whole = 0;
  const size_t digits = i;
  for (; i < micros.size() && micros[i] >= '0' && micros[i] <= '9'; ++i) {
    if (whole >= kMost / 10) return false;
    whole = whole * 10 + (micros[i] - '0');
  }
  if (i == digits) return false;
  int64_t nanos = whole * 1000;
  if (i < micros.size() && micros[i] == '.') {
    int64_t unit = 100;
    int dropped = -1;  // the first digit below a nanosecond
    for (++i; i < micros.size() && micros[i] >= '0' && micros[i] <= '9'; ++i) {
      if (unit > 0) {
        nanos += (micros[i] - '0') * unit;
        unit /= 10;
      } else if (dropped < 0) {
        dropped = micros[i] - '0';
      }
    }
    if (dropped >= 5) ++nanos;
  }
  if (i < micros.size() && (micros[i] == 'e' || micros[i] == 'E')) {
    double value;
    const auto result = std::from_chars(micros.data(), micros.data() + micros.size(), value);
    if (result.ptr != micros.data() + micros.size() || !(std::abs(value) < 9e15)) return false;
    ns = static_cast<int64_t>(std::llround(static_cast<long double>(value) * 1000));
    return true;
  }
  if (i != micros.size()) return false;
  ns = negative ? -nanos : nanos;
  return true;
}

}  // namespace sonde::imports
