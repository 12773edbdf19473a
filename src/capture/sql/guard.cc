#include "capture/sql/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sonde::capture::sql {
namespace {

// Sorted. Not among them: load_extension, fts3_tokenizer, randomblob, zeroblob and what else of
// SQLite reaches out of the query or makes values out of nothing.
constexpr std::string_view kFunctions[] = {"->",
                                           "->>",
                                           "abs",
                                           "acos",
                                           "asin",
                                           "atan",
                                           "atan2",
                                           "avg",
                                           "ceil",
                                           "ceiling",
                                           "char",
                                           "coalesce",
                                           "cos",
                                           "count",
                                           "cume_dist",
                                           "date",
                                           "datetime",
                                           "degrees",
                                           "dense_rank",
                                           "exp",
                                           "first_value",
                                           "floor",
                                           "format",
                                           "glob",
                                           "group_concat",
                                           "hex",
                                           "ifnull",
                                           "iif",
                                           "instr",
                                           "json",
                                           "json_array",
                                           "json_array_length",
                                           "json_each",
                                           "json_extract",
                                           "json_group_array",
                                           "json_group_object",
                                           "json_object",
                                           "json_type",
                                           "json_valid",
                                           "julianday",
                                           "lag",
                                           "last_value",
                                           "lead",
                                           "length",
                                           "like",
                                           "likelihood",
                                           "likely",
                                           "ln",
                                           "log",
                                           "log10",
                                           "log2",
                                           "lower",
                                           "ltrim",
                                           "max",
                                           "median",
                                           "min",
                                           "mod",
                                           "ms",
                                           "nth_value",
                                           "ntile",
                                           "nullif",
                                           "percent_rank",
                                           "percentile",
                                           "pi",
                                           "pow",
                                           "power",
                                           "printf",
                                           "quote",
                                           "radians",
                                           "rank",
                                           "regexp",
                                           "replace",
                                           "round",
                                           "row_number",
                                           "rtrim",
                                           "sign",
                                           "sin",
                                           "sqrt",
                                           "strftime",
                                           "substr",
                                           "substring",
                                           "sum",
                                           "tan",
                                           "time",
                                           "total",
                                           "trim",
                                           "trunc",
                                           "typeof",
                                           "unicode",
                                           "unixepoch",
                                           "unlikely",
                                           "upper",
                                           "us"};

const char* statement_name(int action) {
  switch (action) {
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_PRAGMA:
      return "PRAGMA";
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return "ATTACH";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    default:
      return nullptr;
  }
}

}  // namespace

int Guard::refuse(std::string text) {
  refusal_ = std::move(text);
  return SQLITE_DENY;
}

int Guard::decide(void* self, int action, const char* first, const char* second, const char*,
                  const char*) {
  auto& guard = *static_cast<Guard*>(self);
  if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
    return SQLITE_OK;
  if (action == SQLITE_FUNCTION) {
    const std::string_view name = second ? second : "";  // as it was registered: lower case
    return std::binary_search(std::begin(kFunctions), std::end(kFunctions), name)
               ? SQLITE_OK
               : guard.refuse(fmt::format("the function {}() is not allowed here", name));
  }
  const bool is_of_schema = first && std::string_view(first).starts_with("sqlite_");
  const char* statement = is_of_schema ? nullptr : statement_name(action);
  return guard.refuse(
      statement ? fmt::format("a query may only read (SELECT or WITH), not use {}", statement)
                : "a query may only read (SELECT or WITH) the tables and views of the schema");
}

void Guard::watch(sqlite3* database) {
  constexpr std::pair<int, int> kLimits[] = {
      {SQLITE_LIMIT_LENGTH, 512 << 10},  // instr() and replace() take its square
      {SQLITE_LIMIT_SQL_LENGTH, 64 << 10}, {SQLITE_LIMIT_COLUMN, 200},
      {SQLITE_LIMIT_EXPR_DEPTH, 200},      {SQLITE_LIMIT_COMPOUND_SELECT, 50},
      {SQLITE_LIMIT_VDBE_OP, 100'000},     {SQLITE_LIMIT_FUNCTION_ARG, 32},
      {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 10},  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
      {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
  for (const int option :
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
        SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
        // "text" in double quotes is a column that does not exist, not a text.
        SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL})
    sqlite3_db_config(database, option, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_set_authorizer(database, decide, this);
}

}  // namespace sonde::capture::sql
