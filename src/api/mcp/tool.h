// A tool of the MCP server: what an agent may ask, answered as compact JSON within a budget. Tools
// read; those that write are only there when the user allowed it. To add one: its function in a
// tools_*.cc, its row in that file's list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "codec/json_read.h"
#include "log/query/series/points.h"

namespace sonde::api::mcp {

// About four bytes of JSON are one token for the models of today.
inline constexpr size_t kBytesPerToken = 4;
inline constexpr int64_t kUsualTokens = 2000, kLeastTokens = 100, kMostTokens = 25'000;

struct Call {
  const Context& context;
  const JsonValue& arguments;
  size_t budget_bytes = 0;
  std::string* png = nullptr;  // where a tool puts the image that belongs to its answer

  // An optional text; kInvalid, naming it, when it is something else.
  Result<std::string> text(std::string_view name, std::string_view otherwise = "") const;
  Result<int64_t> integer(std::string_view name, int64_t otherwise, int64_t least,
                          int64_t most) const;
  // A list of texts; one text is a list of one.
  Result<std::vector<std::string>> texts(std::string_view name) const;
};

struct Tool {
  std::string_view name, title, description;
  std::string_view properties;  // members of the input schema's "properties", as JSON
  std::string_view required;    // "" or JSON list
  Result<std::string> (*call)(const Call&);
  bool writes = false;
};

std::span<const Tool> log_tools();
std::span<const Tool> run_tools();
std::span<const Tool> beside_tools();
std::span<const Tool> profile_tools();
std::span<const Tool> chart_tools();
std::span<const Tool> numerics_tools();
std::span<const Tool> write_tools();
std::vector<const Tool*> all_tools(bool may_write);

// The items of a list that may be missing.
const std::vector<JsonValue>& items_of(const JsonValue* list);

// The runs a call names: by `runs` or `run` (names), by `filter` (regular expression), else all.
Result<std::vector<const store::RunSnapshot*>> runs_of(const Call& call,
                                                       const store::Snapshot& snapshot);
// The newest points of a scalar, at most five million.
query::Points points_of(const store::Series& series);

// Asks one of the program's own routes. The error of the route becomes the tool's.
Result<JsonValue> ask(const Context& context, std::string_view method, const std::string& path,
                      std::vector<std::pair<std::string, std::string>> query, std::string body);

// Rows of a table as long as they fit: {"columns":[…],"rows":[[…]],"total":n,"left_out":"…"}.
class RowsAnswer {
 public:
  RowsAnswer(std::vector<std::string> columns, size_t budget_bytes);
  // `row` is a JSON list.
  void add(std::string row);
  // Members that stand before the table, as JSON without braces: "\"a\":1".
  void note(std::string members) { notes_.push_back(std::move(members)); }
  // `total`: rows there are; `how` tells what to do to see the rest.
  std::string finish(size_t total, std::string_view how);

 private:
  std::vector<std::string> columns_, rows_, notes_;
  size_t budget_bytes_, used_ = 0;
  bool is_full_ = false;
};

// A cell of a row, cut when it is long; says so by its ellipsis.
void append_cell(std::string& out, const JsonValue& cell, size_t most_bytes = 400);

}  // namespace sonde::api::mcp
