// A forgiving reader of JSON text in place, for traces of crashed profilers and hand-written
// loggers: raw control characters and unknown escapes in strings, bare words like NaN or N/A, stray
// and missing commas, a file that ends anywhere. Values are views into the text; nothing is built.
// No library does this: the strict ones refuse the whole file, and one
// pass is also the fastest way.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sonde::imports {

enum class ValueKind : uint8_t { kString, kNumber, kWord, kObject, kArray, kEnd };

struct JsonValue {
  ValueKind kind = ValueKind::kEnd;
  std::string_view text;  // of a string without its quotes and still escaped, else the raw text
  bool is_escaped = false;
};

// What a character can be, looked up instead of compared with each.
struct Characters {
  bool is_gap[256] = {}, ends_word[256] = {};
  constexpr Characters() {
    for (const char c : {' ', '\n', '\r', '\t', ','}) is_gap[static_cast<uint8_t>(c)] = true;
    for (const char c : {' ', '\n', '\r', '\t', ',', '}', ']', ':', '"', '{', '['})
      ends_word[static_cast<uint8_t>(c)] = true;
  }
};
inline constexpr Characters kCharacters;

inline bool is_gap(char c) { return kCharacters.is_gap[static_cast<uint8_t>(c)]; }
inline bool ends_word(char c) { return kCharacters.ends_word[static_cast<uint8_t>(c)]; }

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  void move_to(size_t at) { at_ = at; }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view text() const { return text_; }

  // Skips white space and commas; the next character, or '\0' at the end.
  char peek();
  bool take(char c);  // the next character, when it is c

  // Reads a whole value. kEnd when the text ends inside it, or where no value can begin.
  JsonValue value();
  // The next key of an object with its colon taken; false at '}' (taken) and at anything that is no
  // key.
  bool key(std::string_view& name);

 private:
  bool string(JsonValue& out);
  bool skip_nested();

  std::string_view text_;
  size_t at_;
};

// Below, what every character of a trace passes through.

inline char JsonScanner::peek() {
  while (at_ < text_.size() && is_gap(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

inline bool JsonScanner::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

inline bool JsonScanner::string(JsonValue& out) {
  const size_t start = ++at_;
  out.kind = ValueKind::kString;
  out.is_escaped = false;
  for (;;) {
    const void* quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
    if (!quote) {
      at_ = text_.size();
      return false;
    }
    const size_t end = static_cast<size_t>(static_cast<const char*>(quote) - text_.data());
    size_t slashes = 0;
    while (end - slashes > start && text_[end - slashes - 1] == '\\') ++slashes;
    at_ = end + 1;
    if (slashes % 2 == 1) continue;
    out.text = text_.substr(start, end - start);
    out.is_escaped = std::memchr(out.text.data(), '\\', out.text.size()) != nullptr;
    return true;
  }
}

inline JsonValue JsonScanner::value() {
  JsonValue out;
  const char c = peek();
  const size_t start = at_;
  if (c == '"') {
    if (!string(out)) out.kind = ValueKind::kEnd;
    return out;
  }
  if (c == '{' || c == '[') {
    if (!skip_nested()) return out;
    out.kind = c == '{' ? ValueKind::kObject : ValueKind::kArray;
    out.text = text_.substr(start, at_ - start);
    return out;
  }
  if (c == '\0' || c == '}' || c == ']' || c == ':') return out;
  while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
  if (at_ == text_.size()) return out;  // cut off: the rest of the word is unknown
  out.text = text_.substr(start, at_ - start);
  const bool digit = (c >= '0' && c <= '9') ||
                     (c == '-' && out.text.size() > 1 && out.text[1] >= '0' && out.text[1] <= '9');
  out.kind = digit ? ValueKind::kNumber : ValueKind::kWord;
  return out;
}

inline bool JsonScanner::key(std::string_view& name) {
  const char c = peek();
  if (c == '}') {
    ++at_;
    return false;
  }
  JsonValue key_value;
  if (c != '"' || !string(key_value)) return false;
  name = key_value.text;
  return take(':');
}

// The text of a string value; `scratch` holds it when it has escapes.
std::string_view unescaped(const JsonValue& value, std::string& scratch);

// Microseconds as written ("12.345", "1.7e15", a quoted number) as whole nanoseconds, rounded half
// away from zero; exact for every decimal that fits. False for anything that is no finite number.
bool parse_nanos(std::string_view micros, int64_t& ns);

}  // namespace sonde::imports
