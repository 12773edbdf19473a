// Writes JSON straight into a string: no document is built, numbers are the shortest text that
// reads back to the same double, NaN and infinities are the strings "NaN", "Infinity", "-Infinity"
// (the spelling TensorBoard's clients expect). Commas are the writer's business:
//
//   JsonWriter json(out);
//   json.object([&] { json.key("step").number(3); json.key("runs").array([&] { json.string("a");
//   }); });
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  template <class Fn>
  void object(Fn&& fn) {
    open('{');
    fn();
    close('}');
  }
  template <class Fn>
  void array(Fn&& fn) {
    open('[');
    fn();
    close(']');
  }
  JsonWriter& key(std::string_view name);

  void string(std::string_view text);  // invalid UTF-8 becomes U+FFFD
  void number(double value);
  void number(
      float value);  // printed as float: the shortest text that reads back to the same float
  void number(int64_t value);
  void number(uint64_t value);
  void number(int value) { number(static_cast<int64_t>(value)); }
  void number(uint32_t value) { number(static_cast<uint64_t>(value)); }
  // Integers beyond 2^53 as decimal strings, which is the rule of /api/v1.
  void safe_integer(int64_t value);
  void boolean(bool value);
  void null();
  void raw(std::string_view json);  // a value that is JSON already

  std::string& out() { return out_; }

 private:
  void open(char bracket) {
    comma();
    out_.push_back(bracket);
    first_ = true;
  }
  void close(char bracket) {
    out_.push_back(bracket);
    first_ = false;
  }
  void comma() {
    if (!first_) out_.push_back(',');
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;  // nothing written yet at this place: no comma before the next value
};

// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);
// The same as Python's json.dumps writes it: everything beyond ASCII as \uXXXX.
void append_ascii_json_string(std::string& out, std::string_view text);
// Appends a number the way JsonWriter does, NaN and infinities as quoted words.
void append_json_number(std::string& out, double value);

}  // namespace sonde
