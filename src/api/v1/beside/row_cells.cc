#include "api/v1/beside/row_cells.h"

#include <algorithm>

#include "api/v1/beside/table_source.h"

namespace sonde::api::v1 {
namespace {

// After the quote that ends the string which begins at `at`; npos without one.
size_t end_of_string(std::string_view text, size_t at) {
  while (true) {
    const size_t quote = text.find('"', at + 1);
    if (quote == text.npos) return text.npos;
    size_t before = quote;
    while (before > 0 && text[before - 1] == '\\') --before;
    if ((quote - before) % 2 == 0) return quote + 1;
    at = quote;
  }
}

// After the value that begins at `at`; npos when the line ends within it.
size_t end_of_value(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == text.npos) return at;
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;  // of the object around it
      if (--depth == 0) return at + 1;
    } else if (c == ',' && depth == 0) {
      return at;
    }
    ++at;
  }
  return text.npos;
}

}  // namespace

std::optional<std::string_view> member_text(std::string_view line, std::string_view name) {
  const auto needs_escape = [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  };
  if (line.empty() || line[0] != '{' || std::ranges::any_of(name, needs_escape))
    return std::nullopt;
  std::string_view found;
  size_t at = 1;
  while (true) {
    if (at >= line.size() || line[at] != '"') return std::nullopt;
    const size_t key = at + 1;
    at = end_of_string(line, at);
    if (at == line.npos || at >= line.size() || line[at] != ':') return std::nullopt;
    const bool is_it = line.substr(key, at - 1 - key) == name;
    const size_t value = at + 1;
    at = end_of_value(line, value);
    if (at == line.npos || at == value) return std::nullopt;
    if (is_it) found = line.substr(value, at - value);
    if (line[at] == '}') return at + 1 == line.size() ? std::optional(found) : std::nullopt;
    if (line[at] != ',') return std::nullopt;
    ++at;
  }
}

Result<const JsonValue*> RowCells::find(std::string_view column) {
  const auto there = [](const JsonValue* cell) {
    return cell && !cell->is_null() ? cell : nullptr;
  };
  // Written without spaces by sonde.Table; anything else is read whole.
  if (!tree_ && line_.starts_with("{\"_step\":")) {
    if (const auto text = member_text(line_, column)) {
      if (text->empty()) return nullptr;
      if (auto cell = read_json(*text)) {
        cell_ = std::move(*cell);
        return there(&cell_);
      }
    }
  }
  if (!tree_) {
    SONDE_TRY(row, read_row(line_));
    tree_ = std::move(row);
  }
  return there(tree_->find(column));
}

}  // namespace sonde::api::v1
