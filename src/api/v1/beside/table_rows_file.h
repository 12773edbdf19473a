// A table of samples or rollouts as a file of rows (<run>/tables/<name>.jsonl): where it is, what
// its columns hold, which rows a question wants. docs/api.md, Tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "codec/json_read.h"
#include "log/model/snapshot.h"
#include "log/query/lines/line_file.h"

namespace sonde::api::v1 {

struct TableFile {
  const store::RunSnapshot* run = nullptr;
  std::string name, path;
  uint64_t bytes = 0;
};

// All tables of a run, by name.
std::vector<TableFile> tables_of(const store::RunSnapshot& run);
Result<TableFile> find_table(const store::Snapshot& snapshot, std::string_view run,
                             std::string_view name);
Result<std::shared_ptr<const query::LineIndex>> index_of(const Context& context,
                                                         const TableFile& table);

// "number", "text", "bool", "image", "audio", "video", "chat", "tokens", "json"; "" for null.
std::string_view cell_kind(const JsonValue& cell);

struct ColumnKind {
  std::string name;
  std::string kind;
};
// From the first rows and the last ones: columns may come later.
Result<std::vector<ColumnKind>> columns_of(const TableFile& table, const query::LineIndex& index);

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
Result<RowsFound> find_rows(const TableFile& table, const query::LineIndex& index,
                            const RowsQuestion& question, const Request& request);

}  // namespace sonde::api::v1
