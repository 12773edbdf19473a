// The renderings of a Report that need no socket: /api/v1 JSON, CSV of one table, the neutral shape
// that recorded outputs are compared in, and the JSON xprof's page expects.
#pragma once

#include <string>
#include <string_view>

#include "capture/report/report.h"
#include "capture/report/tool.h"

namespace sonde::capture {

// api/v1: at most `inline_rows` rows a table; `total` says how many there are. With a baseline
// every number of figures and of rows with the same key is a pair [value, baseline]; rows that only
// the baseline has follow in `gone`, their numbers [null, baseline].
std::string to_v1_json(const Report& report, size_t inline_rows = 1000,
                       const Report* baseline = nullptr);
std::string to_csv(const Table& table);
std::string to_neutral(const Report& report, std::string_view tool, std::string_view capture);
// xprof's body: gviz tables, the document, or the text.
std::string to_xprof(const Report& report, const Tool& tool);
std::string to_gviz(const Table& table);

// One table as in api/v1's reports.
void append_table(JsonWriter& json, const Table& table);
void append_cell(JsonWriter& json, const Cell& cell);
std::string cell_text(const Cell& cell);  // for CSV and terminals

}  // namespace sonde::capture
