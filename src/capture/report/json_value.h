// A small JSON document: what tools whose answer is a tree (memory profile, op profile, pod viewer
// …) hand to the renderers. Objects keep the order in which keys were set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "codec/json.h"

namespace sonde::capture {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}                           // NOLINT: literals read as JSON
  Json(int value) : value_(int64_t{value}) {}                   // NOLINT
  Json(int64_t value) : value_(value) {}                        // NOLINT
  Json(double value) : value_(value) {}                         // NOLINT
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT
  Json(Array value) : value_(std::move(value)) {}               // NOLINT
  Json(Object value) : value_(std::move(value)) {}              // NOLINT
  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  // Sets or replaces a member; makes this an object if it is nothing yet.
  Json& set(std::string_view key, Json value);
  void push(Json value);
  const Json* find(std::string_view key) const;  // null when absent or not an object

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  void write(JsonWriter& json) const;
  std::string dump() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace sonde::capture
