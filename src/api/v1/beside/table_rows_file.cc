#include "api/v1/beside/table_rows_file.h"

#include <algorithm>
#include <cmath>

#include "api/v1/beside/row_cells.h"
#include "base/strings.h"

namespace sonde::api::v1 {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

bool is_chat(const JsonValue& cell) {
  return cell.is_array() && !cell.items.empty() &&
         std::all_of(cell.items.begin(), cell.items.end(), [](const JsonValue& message) {
           const JsonValue* role = message.find("role");
           if (!role && message.find("value")) role = message.find("from");
           return role && role->is_string();
         });
}

std::string text_of(const JsonValue& cell) { return cell.is_string() ? cell.text : to_text(cell); }

bool fits(const JsonValue* cell, const RowFilter& filter) {
  if (!cell) return false;
  if (filter.contains && lower(text_of(*cell)).find(*filter.contains) == std::string::npos)
    return false;
  if (!filter.min && !filter.max) return true;
  const auto number = cell->is_bool() ? std::optional<double>(cell->boolean) : cell->number();
  return number && (!filter.min || *number >= *filter.min) &&
         (!filter.max || *number <= *filter.max);
}

struct Key {
  uint64_t line = 0;
  bool is_missing = true, is_number = false;
  double number = 0;
  std::string text;
};

Key key_of(uint64_t line, const JsonValue* cell) {
  Key key;
  key.line = line;
  if (!cell) return key;
  key.is_missing = false;
  const auto number = cell->is_bool() ? std::optional<double>(cell->boolean) : cell->number();
  key.is_number = number && !std::isnan(*number);
  if (key.is_number)
    key.number = *number;
  else
    key.text = text_of(*cell).substr(0, 200);
  return key;
}

// Numbers before texts, what is missing last in both directions.
bool comes_before(const Key& a, const Key& b, bool descending) {
  if (a.is_missing != b.is_missing) return b.is_missing;
  if (a.is_number != b.is_number) return a.is_number;
  const int order = a.is_number ? (a.number < b.number   ? -1
                                   : a.number > b.number ? 1
                                                         : 0)
                                : natural_compare(a.text, b.text);
  if (order != 0) return descending ? order > 0 : order < 0;
  return a.line < b.line;
}

}  // namespace

std::string_view cell_kind(const JsonValue& cell) {
  if (cell.is_null()) return "";
  if (cell.is_bool()) return "bool";
  if (cell.is_number()) return "number";
  if (cell.is_string()) return cell.number() ? "number" : "text";
  if (cell.is_object()) {
    if (cell.find("_tokens")) return "tokens";
    if (cell.find("_media")) {
      const JsonValue* kind = cell.find("kind");
      for (const std::string_view known : {"audio", "video"}) {
        if (kind && kind->text == known) return known;
      }
      return "image";
    }
  }
  return is_chat(cell) ? "chat" : "json";
}

Result<std::vector<ColumnKind>> columns_of(const TableSource& table) {
  constexpr uint64_t kLooked = 50;
  constexpr size_t kMostColumns = 500;
  std::vector<ColumnKind> out;
  const auto look = [&](uint64_t, std::string_view line) {
    const auto row = read_row(line);
    if (!row || !row->is_object()) return true;
    for (const JsonMember& member : row->members) {
      if (member.first == "_step" || member.first == "_time") continue;
      auto column = std::ranges::find(out, member.first, &ColumnKind::name);
      if (column == out.end()) {
        if (out.size() >= kMostColumns) continue;
        out.push_back({member.first, ""});
        column = out.end() - 1;
      }
      const std::string_view kind = cell_kind(member.second);
      if (kind.empty()) continue;
      if (column->kind.empty())
        column->kind = kind;
      else if (column->kind != kind)
        column->kind = column->kind == "json" || kind == "json" ? "json" : "text";
    }
    return true;
  };
  const auto few = [&](uint64_t first) {
    return table.read(first, [&](uint64_t number, std::string_view line) {
      return number < first + kLooked && look(number, line);
    });
  };
  if (auto read = few(0); !read) return fail(read.error());
  if (table.lines() > 2 * kLooked) {
    if (auto read = few(table.lines() - kLooked); !read) return fail(read.error());
  }
  for (ColumnKind& column : out) {
    if (column.kind.empty()) column.kind = "text";
  }
  return out;
}

Result<RowsFound> find_rows(const TableSource& table, const RowsQuestion& question,
                            const Request& request) {
  RowsFound out;
  out.total = table.lines();
  const auto wants_step = [&](uint64_t line) {
    return !question.step || table.step(line) == *question.step;
  };
  std::vector<Key> keys;
  if (question.q.empty() && question.filters.empty() && question.sort.empty()) {
    for (uint64_t line = 0; line < table.lines(); ++line) {
      if (!wants_step(line)) continue;
      if (out.matched++ >= question.offset && out.lines.size() < question.limit)
        out.lines.push_back(line);
    }
    return out;
  }
  auto read = table.read(0, [&](uint64_t number, std::string_view line) {
    if (number % 1024 == 0 && request.is_abandoned()) return false;
    if (!wants_step(number)) return true;
    if (!question.q.empty() && lower(line).find(question.q) == std::string::npos) return true;
    if (question.filters.empty() && question.sort.empty()) {
      Key& key = keys.emplace_back();
      key.line = number;
      return true;
    }
    RowCells cells(line);
    for (const RowFilter& filter : question.filters) {
      const auto cell = cells.find(filter.column);
      if (!cell || !fits(*cell, filter)) return true;
    }
    const auto cell =
        question.sort.empty() ? Result<const JsonValue*>(nullptr) : cells.find(question.sort);
    if (cell) keys.push_back(key_of(number, *cell));
    return true;
  });
  if (!read) return fail(read.error());
  out.matched = keys.size();
  const auto by = [&](const Key& a, const Key& b) {
    return comes_before(a, b, question.descending);
  };
  const size_t end = std::min<size_t>(keys.size(), question.offset + question.limit);
  if (!question.sort.empty())
    std::partial_sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(end), keys.end(), by);
  for (size_t i = question.offset; i < end; ++i) out.lines.push_back(keys[i].line);
  return out;
}

}  // namespace sonde::api::v1
