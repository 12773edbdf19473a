// One value of a table of runs: a hyper-parameter, a metric, a name. Knows how to be compared and
// filtered, not where it comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "codec/json_read.h"

namespace sonde::query {

struct Cell {
  enum class Kind : uint8_t { kMissing, kNumber, kText, kBool, kList };

  Kind kind = Kind::kMissing;
  double number = 0;  // also 0 or 1 of a bool
  std::string text;
  std::vector<std::string> list;

  static Cell of(double number) { return {Kind::kNumber, number, {}, {}}; }
  static Cell of(std::string text) { return {Kind::kText, 0, std::move(text), {}}; }
  static Cell of_bool(bool value) { return {Kind::kBool, value ? 1.0 : 0.0, {}, {}}; }

  bool is_missing() const { return kind == Kind::kMissing; }
  friend bool operator==(const Cell&, const Cell&) = default;
};

// <0, 0, >0: numbers before texts, texts in natural order. A missing value and NaN compare as equal
// to each other and after everything; the caller keeps them last in both directions.
int compare(const Cell& a, const Cell& b);
bool sorts_last(const Cell& cell);

// A whole number is written without a point.
void write(JsonWriter& json, const Cell& cell);

// What a person would read; what regular expressions are tried on.
std::string text_of(const Cell& cell);

// "0.01", "true", "adam": numbers and truth values are recognised, the rest is text.
Cell cell_from_text(std::string_view text);
Cell cell_from_json(const JsonValue& value);

}  // namespace sonde::query
