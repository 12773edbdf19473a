// Single cells of a row. Rows that sonde.Table wrote are only walked over for the column that is
// asked for; a tree of the whole row is made of any other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json_read.h"

namespace sonde::api::v1 {

class RowCells {
 public:
  explicit RowCells(std::string_view line) : line_(line) {}

  // kInvalid when the line is no row; nullptr when it has no such cell or null there. The cell is
  // valid until the next call.
  Result<const JsonValue*> find(std::string_view column);

 private:
  std::string_view line_;
  std::optional<JsonValue> tree_;
  JsonValue cell_;
};

// The text of a member of an object, the last one of that name; empty when there is none, nothing
// when the line is no object on one line or the name needs escapes.
std::optional<std::string_view> member_text(std::string_view line, std::string_view name);

}  // namespace sonde::api::v1
