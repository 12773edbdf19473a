#include "api/v1/beside/table_rows_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "api/services/services.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "io/remote/beside.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMostTables = 1000, kMostFolders = 2000;
constexpr int kMostDepth = 8;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// What sonde.Table writes is found without reading the row; other programs say it somewhere.
int64_t step_of_row(std::string_view line) {
  constexpr std::string_view kOwn = "{\"_step\":";
  if (line.starts_with(kOwn)) {
    return std::strtoll(std::string(line.substr(kOwn.size(), 24)).c_str(), nullptr, 10);
  }
  const auto row = read_json(line);
  if (!row) return 0;
  for (const char* name : {"_step", "step", "global_step", "iteration"}) {
    const JsonValue* found = row->find(name);
    if (found && found->integer()) return *found->integer();
  }
  return 0;
}

// %xx of a file's name undone.
std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto hex = [&](char c) {
      return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_chat(const JsonValue& cell) {
  return cell.is_array() && !cell.items.empty() &&
         std::all_of(cell.items.begin(), cell.items.end(), [](const JsonValue& message) {
           const JsonValue* role = message.find("role");
           return role && role->is_string();
         });
}

const JsonValue* cell_of(const JsonValue& row, std::string_view column) {
  for (auto member = row.members.rbegin(); member != row.members.rend(); ++member) {
    if (member->first == column) return &member->second;
  }
  return nullptr;
}

std::string text_of(const JsonValue& cell) { return cell.is_string() ? cell.text : to_text(cell); }

bool fits(const JsonValue& row, const RowFilter& filter) {
  const JsonValue* cell = cell_of(row, filter.column);
  if (!cell || cell->is_null()) return false;
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

Key key_of(uint64_t line, const JsonValue& row, const std::string& column) {
  Key key;
  key.line = line;
  const JsonValue* cell = cell_of(row, column);
  if (!cell || cell->is_null()) return key;
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

std::vector<TableFile> tables_of(const store::RunSnapshot& run) {
  namespace fs = std::filesystem;
  std::vector<TableFile> out;
  const fs::path root = fs::path(io::local_view(run.folder)) / "tables";
  std::error_code failed;
  auto entry =
      fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, failed);
  size_t seen = 0;
  for (; !failed && entry != fs::recursive_directory_iterator() && out.size() < kMostTables &&
         seen < kMostTables + kMostFolders;
       entry.increment(failed), ++seen) {
    if (entry.depth() >= kMostDepth) entry.disable_recursion_pending();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || entry->path().extension() != ".jsonl") continue;
    std::string name = entry->path().lexically_relative(root).replace_extension().string();
    out.push_back({&run, decoded(name), entry->path().string(), entry->file_size(ignored)});
  }
  std::sort(out.begin(), out.end(), [](const TableFile& a, const TableFile& b) {
    return natural_compare(a.name, b.name) < 0;
  });
  return out;
}

Result<TableFile> find_table(const store::Snapshot& snapshot, std::string_view run,
                             std::string_view name) {
  const store::RunSnapshot* found = snapshot.find(run);
  if (!found) return fail(Code::kNotFound, fmt::format("there is no run '{}'", run));
  for (TableFile& table : tables_of(*found)) {
    if (table.name == name) return std::move(table);
  }
  return fail(Code::kNotFound, fmt::format("run '{}' has no table '{}'", run, name));
}

Result<std::shared_ptr<const query::LineIndex>> index_of(const Context& context,
                                                         const TableFile& table) {
  SONDE_TRY(stat, io::stat_of(table.path));
  std::optional<Error> failed;
  auto index = context.services.memo().get<query::LineIndex>(
      "table\n" + table.path,
      hash_of(fmt::format("{}.{}.{}.{}", stat.device, stat.inode, stat.size, stat.mtime_ns)),
      [&](const query::LineIndex* earlier) {
        auto made = query::index_lines(table.path, earlier, step_of_row);
        if (!made) failed = made.error();
        return made ? std::move(*made) : query::LineIndex{};
      });
  if (failed) return fail(*failed);
  return index;
}

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

Result<std::vector<ColumnKind>> columns_of(const TableFile& table, const query::LineIndex& index) {
  constexpr uint64_t kLooked = 50;
  constexpr size_t kMostColumns = 500;
  std::vector<ColumnKind> out;
  const auto look = [&](uint64_t, std::string_view line) {
    const auto row = read_json(line);
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
    return query::read_lines(table.path, index, first, [&](uint64_t number, std::string_view line) {
      return number < first + kLooked && look(number, line);
    });
  };
  if (auto read = few(0); !read) return fail(read.error());
  if (index.lines > 2 * kLooked) {
    if (auto read = few(index.lines - kLooked); !read) return fail(read.error());
  }
  for (ColumnKind& column : out) {
    if (column.kind.empty()) column.kind = "text";
  }
  return out;
}

Result<RowsFound> find_rows(const TableFile& table, const query::LineIndex& index,
                            const RowsQuestion& question, const Request& request) {
  RowsFound out;
  out.total = index.lines;
  const auto wants_step = [&](uint64_t line) {
    return !question.step || index.steps[line] == *question.step;
  };
  std::vector<Key> keys;
  if (question.q.empty() && question.filters.empty() && question.sort.empty()) {
    for (uint64_t line = 0; line < index.lines; ++line) {
      if (!wants_step(line)) continue;
      if (out.matched++ >= question.offset && out.lines.size() < question.limit)
        out.lines.push_back(line);
    }
    return out;
  }
  auto read = query::read_lines(table.path, index, 0, [&](uint64_t number, std::string_view line) {
    if (number % 1024 == 0 && request.is_abandoned()) return false;
    if (!wants_step(number)) return true;
    if (!question.q.empty() && lower(line).find(question.q) == std::string::npos) return true;
    if (question.filters.empty() && question.sort.empty()) {
      Key& key = keys.emplace_back();
      key.line = number;
      return true;
    }
    const auto row = read_json(line);
    if (!row) return true;
    for (const RowFilter& filter : question.filters) {
      if (!fits(*row, filter)) return true;
    }
    keys.push_back(key_of(number, *row, question.sort));
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
