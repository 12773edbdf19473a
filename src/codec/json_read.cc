#include "codec/json_read.h"

#include <fmt/format.h>
// The library adds to the null pointer of a stack that holds nothing yet, which is harmless and not
// ours to mend: the sanitizer is told not to look there.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <charconv>
#include <cmath>
#include <limits>

namespace sonde {
namespace {

constexpr size_t kMaxDepth = 64;

// Builds the tree from the reader's events. `open_` points into the tree: an element of a vector
// only grows while it is the innermost open one, so the pointers above it stay valid.
class Builder {
 public:
  explicit Builder(JsonValue& root) : root_(root) {}

  bool Null() { return place(JsonValue{}); }
  bool Bool(bool value) { return place({JsonValue::Kind::kBool, value, {}, {}, {}}); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return place({JsonValue::Kind::kNumber, false, std::string(text, size), {}, {}});
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return place(JsonValue::string({text, size}));
  }
  bool StartObject() { return enter(JsonValue::Kind::kObject); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    open_.back()->members.emplace_back(std::string(text, size), JsonValue{});
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return leave(); }
  bool StartArray() { return enter(JsonValue::Kind::kArray); }
  bool EndArray(rapidjson::SizeType) { return leave(); }

  bool too_deep() const { return too_deep_; }

 private:
  JsonValue& slot() {
    if (open_.empty()) return root_;
    JsonValue& parent = *open_.back();
    if (parent.is_object()) return parent.members.back().second;
    return parent.items.emplace_back();
  }
  bool place(JsonValue value) {
    slot() = std::move(value);
    return true;
  }
  bool enter(JsonValue::Kind kind) {
    too_deep_ = open_.size() >= kMaxDepth;
    if (too_deep_) return false;
    JsonValue& value = slot();
    value.kind = kind;
    open_.push_back(&value);
    return true;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }

  JsonValue& root_;
  std::vector<JsonValue*> open_;
  bool too_deep_ = false;
};

}  // namespace

JsonValue JsonValue::object() { return {Kind::kObject, false, {}, {}, {}}; }

JsonValue JsonValue::string(std::string_view text) {
  return {Kind::kString, false, std::string(text), {}, {}};
}

const JsonValue* JsonValue::find(std::string_view name) const {
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first == name) return member->second.is_null() ? nullptr : &member->second;
  }
  return nullptr;
}

std::optional<double> JsonValue::number() const {
  if (is_string()) {
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (const auto whole = integer()) return static_cast<double>(*whole);
    return std::nullopt;
  }
  if (!is_number()) return std::nullopt;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);  // 0 where it is too small
  return value;
}

std::optional<int64_t> JsonValue::integer() const {
  if (!is_number() && !is_string()) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  if (!is_number()) return std::nullopt;
  const double real = number().value_or(0.5);  // 3.0 and 1e3 are whole numbers too
  if (real != std::floor(real) || std::abs(real) > 9007199254740992.0) return std::nullopt;
  return static_cast<int64_t>(real);
}

Result<JsonValue> read_json(std::string_view text) {
  JsonValue root;
  Builder builder(root);
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(text.data(), text.size());
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, builder);
  if (builder.too_deep()) return fail(Code::kTooLarge, "JSON is nested deeper than 64 levels");
  if (!parsed) {
    return fail(Code::kInvalid, fmt::format("not JSON at byte {}: {}", parsed.Offset(),
                                            rapidjson::GetParseError_En(parsed.Code())));
  }
  return root;
}

void write_json(JsonWriter& json, const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return json.null();
    case JsonValue::Kind::kBool:
      return json.boolean(value.boolean);
    case JsonValue::Kind::kNumber:
      return json.raw(value.text);
    case JsonValue::Kind::kString:
      return json.string(value.text);
    case JsonValue::Kind::kArray:
      return json.array([&] {
        for (const JsonValue& item : value.items) write_json(json, item);
      });
    case JsonValue::Kind::kObject:
      return json.object([&] {
        for (const auto& [name, member] : value.members) {
          json.key(name);
          write_json(json, member);
        }
      });
  }
}

std::string to_text(const JsonValue& value) {
  std::string out;
  JsonWriter json(out);
  write_json(json, value);
  return out;
}

}  // namespace sonde
