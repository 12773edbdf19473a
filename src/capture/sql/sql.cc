#include "capture/sql/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "capture/sql/functions.h"
#include "capture/sql/guard.h"
#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

// How many of SQLite's instructions pass between two looks at whether to stop: about 1 ms.
constexpr int kInstructionsBetweenLooks = 20'000;

// One query's connection. Members are destroyed from the last to the first: the database goes
// before the tables it reads.
class Query {
 public:
  Query(std::vector<std::unique_ptr<Source>> tables, std::span<const View> views,
        const Limits& limits)
      : tables_(std::move(tables)), views_(views), limits_(limits) {}

  Result<Answer> run(std::string_view text) {
    if (!open()) return fail(Code::kTooLarge, "there is no memory left for another query");
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), text.data(), static_cast<int>(text.size()),
                                        &prepared, &rest);
    const Statement statement(prepared);
    if (code != SQLITE_OK) return failure(code, text);
    if (!prepared) return fail(Code::kInvalid, "the query is empty");
    sqlite3_stmt* second = nullptr;
    const auto used = static_cast<size_t>(rest - text.data());
    const int more = sqlite3_prepare_v2(database_.get(), rest, static_cast<int>(text.size() - used),
                                        &second, nullptr);
    const Statement other(second);
    if (second || more != SQLITE_OK)
      return fail(Code::kInvalid,
                  fmt::format("{}: one query at a time, without anything behind its semicolon",
                              place_of(text, used)));
    if (!sqlite3_stmt_readonly(prepared))
      return fail(Code::kInvalid, "a query may only read (SELECT or WITH)");
    return collect(prepared, text);
  }

 private:
  bool open() {
    static std::once_flag once;
    std::call_once(once, [] { sqlite3_hard_heap_limit64(kMaxMemoryBytes); });
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(":memory:", &opened,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) return false;
    for (const auto& table : tables_) {
      if (!add_table(opened, *table)) return false;
    }
    if (!add_functions(opened)) return false;
    // What does not fit into memory is not spilled into files.
    std::string set_up = "pragma temp_store = memory;";
    for (const View& view : views_)
      set_up += fmt::format("create view {} as {};", view.name, view.select);
    // A table is declared when it is first named, which only this may do: others of SQLite's own
    // (pragma_…, dbstat) stay out of reach.
    for (const auto& table : tables_)
      set_up += fmt::format("select 1 from {} limit 0;", table->name());
    set_up += "select 1 from json_each('[]');select 1 from json_tree('[]');";
    if (sqlite3_exec(opened, set_up.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return false;
    guard_.watch(opened);
    sqlite3_progress_handler(opened, kInstructionsBetweenLooks, look, this);
    return true;
  }

  static int look(void* self) {
    auto& query = *static_cast<Query*>(self);
    if (!query.limits_.stop) return 0;
    query.stopped_ = query.limits_.stop();
    return query.stopped_.empty() ? 0 : 1;
  }

  static std::string place_of(std::string_view text, size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    // Columns are counted in characters: bytes that continue one do not count.
    const auto column = 1 + std::count_if(before.begin() + static_cast<ptrdiff_t>(start),
                                          before.end(), [](char c) { return (c & 0xc0) != 0x80; });
    return fmt::format("line {}, column {}", line, column);
  }

  tl::unexpected<Error> failure(int code, std::string_view text) {
    if (!stopped_.empty()) return fail(Code::kTooLarge, stopped_);
    if (code == SQLITE_NOMEM)
      return fail(
          Code::kTooLarge,
          fmt::format("the query needs more than the {} MiB of memory that queries may have; "
                      "narrow it by track, name or time, or sum up before sorting",
                      kMaxMemoryBytes >> 20));
    std::string why =
        guard_.refusal().empty() ? std::string(sqlite3_errmsg(database_.get())) : guard_.refusal();
    const int offset = sqlite3_error_offset(database_.get());
    if (offset >= 0 && static_cast<size_t>(offset) <= text.size())
      why = fmt::format("{}: {}", place_of(text, static_cast<size_t>(offset)), why);
    return fail(Code::kInvalid, std::move(why));
  }

  Result<Answer> collect(sqlite3_stmt* statement, std::string_view text) {
    Answer answer;
    answer.table.id = "result";
    const int columns = sqlite3_column_count(statement);
    for (int c = 0; c < columns; ++c) add_column(answer.table, sqlite3_column_name(statement, c));
    size_t bytes = 0;
    for (;;) {
      const int code = sqlite3_step(statement);
      if (code == SQLITE_DONE) break;
      if (code != SQLITE_ROW) return failure(code, text);
      if (answer.table.rows.size() >= limits_.rows) {
        answer.cut = fmt::format("after {} rows", answer.table.rows.size());
        break;
      }
      std::vector<Cell>& row = answer.table.rows.emplace_back();
      row.reserve(static_cast<size_t>(columns));
      for (int c = 0; c < columns; ++c) bytes += add_cell(row, statement, c);
      if (bytes > limits_.bytes) {
        answer.cut = fmt::format("after {} rows, which are {} MB", answer.table.rows.size(),
                                 bytes / 1'000'000);
        break;
      }
    }
    type_columns(answer.table);
    return answer;
  }

  static size_t add_cell(std::vector<Cell>& row, sqlite3_stmt* statement, int c) {
    constexpr size_t kNumberBytes = 8;
    switch (sqlite3_column_type(statement, c)) {
      case SQLITE_INTEGER:
        row.emplace_back(static_cast<int64_t>(sqlite3_column_int64(statement, c)));
        return kNumberBytes;
      case SQLITE_FLOAT:
        row.emplace_back(sqlite3_column_double(statement, c));
        return kNumberBytes;
      case SQLITE_NULL:
        row.emplace_back();
        return kNumberBytes;
      case SQLITE_BLOB:
        row.emplace_back(fmt::format("<{} bytes>", sqlite3_column_bytes(statement, c)));
        return kNumberBytes;
      default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, c));
        const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, c));
        row.emplace_back(std::string(text ? text : "", text ? size : 0));
        return kNumberBytes + size;
      }
    }
  }

  // Ids are unique, however often a name was selected.
  static void add_column(Table& table, const char* name) {
    const std::string label = name ? name : "";
    std::string id = label;
    const auto is_taken = [&] {
      return std::any_of(table.columns.begin(), table.columns.end(),
                         [&](const Column& column) { return column.id == id; });
    };
    for (int n = 2; is_taken(); ++n) id = fmt::format("{}_{}", label, n);
    table.columns.push_back({std::move(id), label, Type::kText, unit_of(label)});
  }

  // Of the tables' times, which pages then write as 1.5 ms; a name that ends in _ms says it itself.
  static std::string unit_of(std::string_view name) {
    return name == "ts" || name == "dur" || name == "self" || name.ends_with("_dur") ? "ps" : "";
  }

  static void type_columns(Table& table) {
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const bool is_number = std::all_of(
          table.rows.begin(), table.rows.end(),
          [&](const auto& row) { return !std::holds_alternative<std::string>(row[c]); });
      table.columns[c].type = is_number ? Type::kNumber : Type::kText;
      if (!is_number) table.columns[c].unit.clear();
    }
  }

  std::vector<std::unique_ptr<Source>> tables_;
  std::span<const View> views_;
  const Limits& limits_;
  Guard guard_;
  std::string stopped_;
  Database database_;
};

}  // namespace

namespace {

Result<void> check(std::string_view query) {
  if (query.size() > kMaxQueryBytes)
    return fail(Code::kTooLarge, fmt::format("a query may have {} kB, not {}", kMaxQueryBytes >> 10,
                                             query.size() >> 10));
  if (query.find('\0') != std::string_view::npos)
    return fail(Code::kInvalid, "a query cannot contain a zero byte");
  return {};
}

}  // namespace

Result<Answer> run(const HostAnalysis& host, std::string_view query, const Limits& limits) {
  if (auto good = check(query); !good) return fail(good.error());
  Model model(host);
  return Query(all_tables(model), all_views(), limits).run(query);
}

Result<Answer> run(const std::vector<Flat>& tables, std::string_view query, const Limits& limits) {
  if (auto good = check(query); !good) return fail(good.error());
  std::vector<std::unique_ptr<Source>> sources;
  for (const Flat& flat : tables) sources.push_back(flat_table(flat.name, *flat.table));
  return Query(std::move(sources), {}, limits).run(query);
}

std::vector<Described> schema() {
  static const trace::Host kNobody{"", "", 0, std::make_shared<const trace::Trace>()};
  const HostAnalysis empty(kNobody, 0);
  Model model(empty);
  std::vector<Described> out;
  for (const auto& table : all_tables(model)) {
    out.push_back({table->name(), {}});
    for (const SourceColumn& column : table->columns())
      out.back().columns.emplace_back(column.name);
  }
  for (const View& view : all_views()) {
    out.push_back({view.name, {}});
    for (const std::string_view column : split(view.columns, ','))
      out.back().columns.emplace_back(trimmed(column));
  }
  return out;
}

}  // namespace sonde::capture::sql
