// A table of samples or rollouts: what its columns hold, which rows a question wants. docs/api.md,
// Tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "api/v1/beside/table_source.h"
#include "codec/json_read.h"

namespace sonde::api::v1 {

// "number", "text", "bool", "image", "audio", "video", "chat", "tokens", "json"; "" for null.
std::string_view cell_kind(const JsonValue& cell);

struct ColumnKind {
  std::string name;
  std::string kind;
};
// From the first rows and the last ones: columns may come later.
Result<std::vector<ColumnKind>> columns_of(const TableSource& table);

struct RowFilter {
  std::string column;
  std::optional<double> min, max;
  std::optional<std::string> contains;  // in lower case
};
struct RowsQuestion {
  std::optional<int64_t> step;
  std::string q;  // anywhere in the row's text, lower case
  std::vector<RowFilter> filters;
  std::string sort;  // a column, "" keeps the order of the file
  bool descending = false;
  uint64_t offset = 0, limit = 100;
};
struct RowsFound {
  uint64_t total = 0;           // rows of the file
  uint64_t matched = 0;         // that the question wants
  std::vector<uint64_t> lines;  // the page
};
Result<RowsFound> find_rows(const TableSource& table, const RowsQuestion& question,
                            const Request& request);

}  // namespace sonde::api::v1
