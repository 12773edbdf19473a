// A forgiving reader of JSON text in place, for traces of crashed profilers and hand-written
// loggers: raw control characters and unknown escapes in strings, bare words like NaN or N/A, stray
// and missing commas, a file that ends anywhere. Values are views into the text; nothing is built.
// No library does this: the strict ones refuse the whole file, and one
// pass is also the fastest way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::imports {

enum class ValueKind : uint8_t { kString, kNumber, kWord, kObject, kArray, kEnd };

struct JsonValue {
  ValueKind kind = ValueKind::kEnd;
  std::string_view text;  // of a string without its quotes and still escaped, else the raw text
  bool is_escaped = false;
};

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

// The text of a string value; `scratch` holds it when it has escapes.
std::string_view unescaped(const JsonValue& value, std::string& scratch);

// Microseconds as written ("12.345", "1.7e15", a quoted number) as whole nanoseconds, rounded half
// away from zero; exact for every decimal that fits. False for anything that is no finite number.
bool parse_nanos(std::string_view micros, int64_t& ns);

}  // namespace sonde::imports
