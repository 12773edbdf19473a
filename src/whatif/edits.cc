#include "whatif/edits.h"

#include <algorithm>

#include "whatif/files/json_rows.h"

namespace sonde::whatif {
namespace {

// `like` says what the column holds; a column of nothing takes what comes.
void put_value(const JsonValue& value, const Column& like, ColumnBuilder& into) {
  if (value.is_null()) return into.number(kNaN, true);
  if (const auto bytes = bytes_in_json(value)) return into.text(*bytes);
  const auto number = value.is_bool() ? std::optional<double>(value.boolean) : value.number();
  double parsed = 0;
  if (like.is_numeric() && number)
    return into.number(*number, like.is_integer && *number == std::trunc(*number));
  if (like.is_numeric() && value.is_string() && parse_number(value.text, parsed))
    return into.number(parsed, false);
  into.text(value.text);
}

void keep_value(const Column& column, size_t row, ColumnBuilder& into) {
  for (size_t at = column.begin(row); at < column.end(row); ++at) {
    if (column.is_numeric())
      into.number(column.numbers[at], column.is_integer);
    else if (column.codes[at] == kMissing)
      into.number(kNaN, true);
    else
      into.text(column.words[column.codes[at]]);
  }
}

// Null is a value here: it makes the feature missing.
const JsonValue* value_of(const JsonValue* values, const std::string& name) {
  if (!values) return nullptr;
  const auto member = std::ranges::find(values->members, name, &JsonMember::first);
  return member == values->members.end() ? nullptr : &member->second;
}

}  // namespace

Dataset with_values(Dataset rows, const std::vector<const JsonValue*>& values) {
  for (Column& column : rows.columns) {
    const bool is_changed = std::ranges::any_of(
        values, [&](const JsonValue* one) { return value_of(one, column.name) != nullptr; });
    if (!is_changed) continue;
    ColumnBuilder made(column.name);
    for (size_t row = 0; row < rows.rows; ++row) {
      const JsonValue* value = row < values.size() ? value_of(values[row], column.name) : nullptr;
      if (!value)
        keep_value(column, row, made);
      else if (value->is_array())
        for (const JsonValue& item : value->items) put_value(item, column, made);
      else
        put_value(*value, column, made);
      made.end_row(row);
    }
    column = std::move(made).finish(rows.rows);
  }
  return rows;
}

}  // namespace sonde::whatif
