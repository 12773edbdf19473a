#include "capture/sql/virtual_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

namespace sonde::capture::sql {
namespace {

struct Table : sqlite3_vtab {
  const Source* source = nullptr;
};

struct OpenCursor : sqlite3_vtab_cursor {
  std::unique_ptr<Cursor> cursor;
};

const Source& source_of(sqlite3_vtab* table) { return *static_cast<Table*>(table)->source; }
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *static_cast<OpenCursor*>(cursor)->cursor; }

int connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** out,
            char** problem) {
  std::string declaration = "CREATE TABLE x(";
  const char* comma = "";
  for (const SourceColumn& column : static_cast<const Source*>(source)->columns()) {
    declaration.append(comma).append("\"").append(column.name).append("\" ").append(column.type);
    comma = ", ";
  }
  declaration += ")";
  if (const int code = sqlite3_declare_vtab(database, declaration.c_str()); code != SQLITE_OK) {
    *problem = sqlite3_mprintf("%s", sqlite3_errmsg(database));
    return code;
  }
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);  // views may use it
  auto table = std::make_unique<Table>();
  table->source = static_cast<const Source*>(source);
  *out = table.release();
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<Table> owned(static_cast<Table*>(table));
  return SQLITE_OK;
}

std::optional<Comparison> comparison_of(int operation) {
  switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return Comparison::kEqual;
    case SQLITE_INDEX_CONSTRAINT_LT:
      return Comparison::kLess;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return Comparison::kLessEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
      return Comparison::kGreater;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return Comparison::kGreaterEqual;
    case SQLITE_INDEX_CONSTRAINT_LIKE:
      return Comparison::kLike;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return Comparison::kGlob;
    case SQLITE_INDEX_CONSTRAINT_REGEXP:
      return Comparison::kRegexp;
    default:
      return std::nullopt;
  }
}

// The share of rows that a constraint leaves, 0 when the column cannot use it.
double share_left(Narrows narrows, Comparison comparison, double rows) {
  const bool is_equal = comparison == Comparison::kEqual;
  const bool is_pattern = comparison >= Comparison::kLike;
  switch (narrows) {
    case Narrows::kKey:
      return is_equal ? 1 / std::max(1.0, rows) : is_pattern ? 0 : 0.3;
    case Narrows::kFew:
      return is_equal ? std::min(1.0, 8 / std::max(1.0, rows)) : is_pattern ? 0 : 0.3;
    case Narrows::kRange:
      return is_equal ? 0.05 : is_pattern ? 0 : 0.3;
    case Narrows::kText:
      return is_equal ? 0.02 : is_pattern ? 0.1 : 0;
    case Narrows::kNothing:
      return 0;
  }
  return 0;
}

constexpr size_t kMostConstraints = 16;  // further ones are left to SQLite

// idxStr is two characters a constraint, column and comparison, in the order of the values;
// idxNum is the order of the rows.
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const Source& source = source_of(table);
  const std::span<const SourceColumn> columns = source.columns();
  const double all = std::max(1.0, source.rows());
  double rows = all;
  std::string chosen;
  for (int i = 0; i < info->nConstraint && chosen.size() < 2 * kMostConstraints; ++i) {
    const auto& constraint = info->aConstraint[i];
    const auto comparison = comparison_of(constraint.op);
    if (!constraint.usable || !comparison || constraint.iColumn >= static_cast<int>(columns.size()))
      continue;
    // The rowid of every source is its key, which is its first column where it has one.
    const int column = std::max(0, constraint.iColumn);
    const Narrows narrows = columns[static_cast<size_t>(column)].narrows;
    if (constraint.iColumn < 0 && narrows != Narrows::kKey) continue;
    const double share = share_left(narrows, *comparison, all);
    if (share == 0) continue;
    if (narrows == Narrows::kText &&
        std::string_view(sqlite3_vtab_collation(info, i)) != std::string_view("BINARY"))
      continue;
    rows *= share;
    chosen += static_cast<char>('a' + column);
    chosen += static_cast<char>('a' + static_cast<int>(*comparison));
    info->aConstraintUsage[i].argvIndex = static_cast<int>(chosen.size() / 2);
    if (narrows == Narrows::kKey && *comparison == Comparison::kEqual)
      info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
  }
  std::vector<SortTerm> terms;
  for (int i = 0; i < info->nOrderBy; ++i)
    terms.push_back({std::max(0, info->aOrderBy[i].iColumn), info->aOrderBy[i].desc != 0});
  info->idxNum = 0;
  if (!terms.empty()) {
    const Order order = source.order_for(terms);
    if (order >= 0) {
      info->idxNum = order;
      info->orderByConsumed = 1;
    }
  }
  info->idxStr = sqlite3_mprintf("%s", chosen.c_str());
  if (!info->idxStr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  info->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows));
  info->estimatedCost = 10 + rows * (info->idxNum != 0 ? 1.5 : 1);
  return SQLITE_OK;
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<OpenCursor>();
  cursor->cursor = source_of(table).open();
  *out = cursor.release();
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<OpenCursor> owned(static_cast<OpenCursor*>(cursor));
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int order, const char* chosen, int count,
           sqlite3_value** values) {
  // Called once a row of an outer table: no allocation.
  std::array<Constraint, kMostConstraints> constraints;
  const auto used = std::min(constraints.size(), static_cast<size_t>(count));
  for (size_t i = 0; i < used; ++i) {
    constraints[i] = {chosen[2 * i] - 'a', static_cast<Comparison>(chosen[2 * i + 1] - 'a'),
                      values[i]};
  }
  cursor_of(cursor).start(std::span(constraints).first(used), order);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  cursor_of(cursor).advance();
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).at_end() ? 1 : 0; }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int index) {
  cursor_of(cursor).column(out, index);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = cursor_of(cursor).row();
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = connect;  // without xCreate the table is there by itself
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}
constexpr sqlite3_module kModule = make_module();

// Longer ones are cut: a value that SQLite finds too long would end the query.
constexpr size_t kMaxTextBytes = 256 << 10;

}  // namespace

bool add_table(sqlite3* database, const Source& source) {
  return sqlite3_create_module(database, source.name(), &kModule, const_cast<Source*>(&source)) ==
         SQLITE_OK;
}

void put(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text(out, text.data() ? text.data() : "",
                      static_cast<int>(std::min(text.size(), kMaxTextBytes)), SQLITE_STATIC);
}

void put_copy(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text(out, text.data() ? text.data() : "",
                      static_cast<int>(std::min(text.size(), kMaxTextBytes)), SQLITE_TRANSIENT);
}

void Bounds::narrow(const Constraint& constraint) {
  const int type = sqlite3_value_type(constraint.value);
  if (type == SQLITE_NULL) {
    low = 1;
    high = 0;  // nothing compares with NULL
    return;
  }
  int64_t below = 0, above = 0;  // the whole numbers around the value
  if (type == SQLITE_INTEGER) {
    below = above = sqlite3_value_int64(constraint.value);
  } else if (type == SQLITE_FLOAT) {
    const double value = sqlite3_value_double(constraint.value);
    if (!(std::abs(value) < 9.2e18)) return;
    below = static_cast<int64_t>(std::floor(value));
    above = static_cast<int64_t>(std::ceil(value));
  } else {
    return;
  }
  switch (constraint.comparison) {
    case Comparison::kEqual:
      low = std::max(low, below);
      high = std::min(high, above);
      break;
    case Comparison::kLess:
    case Comparison::kLessEqual:
      high = std::min(high, above);
      break;
    case Comparison::kGreater:
    case Comparison::kGreaterEqual:
      low = std::max(low, below);
      break;
    default:
      break;
  }
}

}  // namespace sonde::capture::sql
