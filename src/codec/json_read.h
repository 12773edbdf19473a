// Reads JSON into a small tree: request bodies, sidecars, configuration files. Numbers keep their
// text, so a document that is read and written again does not change. Hostile input is normal:
// depth and size are limited, nothing recurses while reading.
//
//   SONDE_TRY(const body, read_json(request.body));
//   if (const JsonValue* px = body.find("px")) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/json.h"

namespace sonde {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;  // of a string; the digits of a number
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in order; the last of equal names wins

  bool is_null() const { return kind == Kind::kNull; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool is_bool() const { return kind == Kind::kBool; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_object() const { return kind == Kind::kObject; }

  // A member that is there and not null; nullptr otherwise, also when this is no object.
  const JsonValue* find(std::string_view name) const;

  // A number, or one of the strings that /api/v1 writes for what JSON numbers cannot say: "NaN",
  // "Infinity", "-Infinity" and integers beyond 2^53 in decimal.
  std::optional<double> number() const;
  std::optional<int64_t> integer() const;

  static JsonValue object();
  static JsonValue string(std::string_view text);
};

struct JsonMember {
  std::string first;  // its name
  JsonValue second;
};

// kInvalid with the byte where it stops making sense; kTooLarge when nested deeper than 64.
Result<JsonValue> read_json(std::string_view text);

// Writes a tree the way it was read: one line, members in order.
void write_json(JsonWriter& json, const JsonValue& value);
std::string to_text(const JsonValue& value);

}  // namespace sonde
