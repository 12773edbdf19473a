// Tools about what lies beside the events: tables of samples and rollouts, console output.
#include <fmt/format.h>

#include <algorithm>

#include "api/mcp/tool.h"

namespace sonde::api::mcp {
namespace {

Result<std::string> tables(const Call& call) {
  SONDE_TRY(run, call.text("run"));
  SONDE_TRY(name, call.text("table"));
  if (run.empty() || name.empty()) {
    SONDE_TRY(found, ask(call.context, "GET", "tables", {}, ""));
    RowsAnswer rows({"run", "table", "bytes"}, call.budget_bytes);
    const JsonValue* list = found.find("tables");
    size_t total = 0;
    for (const JsonValue& one : items_of(list)) {
      const JsonValue *of = one.find("run"), *called = one.find("name"), *bytes = one.find("bytes");
      if (!of || !called || !bytes || (!run.empty() && of->text != run)) continue;
      ++total;
      std::string row = "[";
      append_json_string(row, of->text);
      row += ',';
      append_json_string(row, called->text);
      rows.add(row + "," + to_text(*bytes) + "]");
    }
    return rows.finish(total, "name a run, or raise max_tokens");
  }
  std::string body = "{\"run\":";
  append_json_string(body, run);
  body += ",\"table\":";
  append_json_string(body, name);
  SONDE_TRY(q, call.text("q"));
  SONDE_TRY(sort, call.text("sort"));
  SONDE_TRY(limit, call.integer("limit", 20, 1, 1000));
  SONDE_TRY(offset, call.integer("offset", 0, 0, INT64_MAX));
  if (!q.empty()) {
    body += ",\"q\":";
    append_json_string(body, q);
  }
  if (const JsonValue* step = call.arguments.find("step")) body += ",\"step\":" + to_text(*step);
  if (!sort.empty()) {
    const JsonValue* descending = call.arguments.find("descending");
    body += ",\"sort\":[";
    append_json_string(body, sort);
    body += descending && descending->boolean ? ",\"desc\"]" : ",\"asc\"]";
  }
  body += fmt::format(",\"offset\":{},\"limit\":{}}}", offset, limit);
  SONDE_TRY(found, ask(call.context, "POST", "tables/rows", {}, std::move(body)));
  const JsonValue *columns = found.find("columns"), *list = found.find("rows");
  std::vector<std::string> names{"step"};
  for (const JsonValue& column : items_of(columns)) {
    if (const JsonValue* called = column.find("name")) names.push_back(called->text);
  }
  RowsAnswer rows(names, call.budget_bytes);
  const JsonValue* steps = found.find("steps");
  if (steps && !steps->items.empty())
    rows.note(fmt::format("\"steps\":[{},{}],\"different_steps\":{}", to_text(steps->items.front()),
                          to_text(steps->items.back()), steps->items.size()));
  for (const JsonValue& one : items_of(list)) {
    const JsonValue *cells = one.find("cells"), *step = one.find("step");
    std::string row = "[" + (step ? to_text(*step) : "null");
    for (size_t i = 1; i < names.size(); ++i) {
      row += ',';
      const JsonValue* cell = cells ? cells->find(names[i]) : nullptr;
      append_cell(row, cell ? *cell : JsonValue{}, 600);
    }
    rows.add(row + "]");
  }
  const JsonValue* matched = found.find("matched");
  return rows.finish(matched && matched->integer() ? static_cast<size_t>(*matched->integer()) : 0,
                     "use offset, step, q or sort, or raise max_tokens");
}

Result<std::string> console(const Call& call) {
  SONDE_TRY(run, call.text("run"));
  SONDE_TRY(q, call.text("q"));
  SONDE_TRY(from, call.integer("from", q.empty() ? -40 : 0, INT64_MIN / 2, INT64_MAX));
  SONDE_TRY(limit, call.integer("limit", 40, 1, 1000));
  SONDE_TRY(found, ask(call.context, "GET", "console",
                       {{"run", run},
                        {"q", q},
                        {"from", std::to_string(from)},
                        {"count", std::to_string(limit)}},
                       ""));
  RowsAnswer rows({"line", "time", "stream", "text"}, call.budget_bytes);
  const JsonValue *list = found.find("lines"), *total = found.find("total"),
                  *next = found.find("next");
  if (total && next)
    rows.note(
        fmt::format("\"lines_in_file\":{},\"next_line\":{}", to_text(*total), to_text(*next)));
  for (const JsonValue& one : items_of(list)) {
    std::string row = "[";
    for (const char* field : {"line", "time", "stream", "text"}) {
      if (row.size() > 1) row += ',';
      const JsonValue* value = one.find(field);
      append_cell(row, value ? *value : JsonValue{}, 500);
    }
    rows.add(row + "]");
  }
  return rows.finish(list ? list->items.size() : 0, "use 'from', or raise max_tokens");
}

Result<std::string> alerts(const Call& call) {
  SONDE_TRY(run, call.text("run"));
  SONDE_TRY(found, ask(call.context, "GET", "alerts", {}, ""));
  RowsAnswer rows({"rule", "run", "tag", "step", "text", "state"}, call.budget_bytes);
  const JsonValue *rules = found.find("rules"), *problem = found.find("problem");
  rows.note(fmt::format("\"rules\":{}", items_of(rules).size()));
  if (problem) rows.note("\"problem\":" + to_text(*problem));
  size_t total = 0;
  for (const JsonValue& one : items_of(found.find("alerts"))) {
    const JsonValue* of = one.find("run");
    if (!run.empty() && (!of || of->text != run)) continue;
    ++total;
    std::string row = "[";
    for (const char* field : {"rule", "run", "tag", "step", "text", "state"}) {
      if (row.size() > 1) row += ',';
      const JsonValue* value = one.find(field);
      append_cell(row, value ? *value : JsonValue{}, 400);
    }
    rows.add(row + "]");
  }
  return rows.finish(total, "name a run, or raise max_tokens");
}

constexpr Tool kTools[] = {
    {"alerts", "Alerts",
     "What the rules of alerts.yaml say about the runs now, newest first, and what programs said "
     "themselves; 'state' is open, acknowledged or silenced.",
     R"("run":{"type":"string"})", "", alerts},
    {"tables", "Tables of samples and rollouts",
     "Without 'table': which tables runs have. With 'run' and 'table': rows, those of a step, that "
     "hold a text (q), sorted by a column.",
     R"("run":{"type":"string"},"table":{"type":"string"},"step":{"type":"integer"},"q":{"type":"string"},"sort":{"type":"string"},"descending":{"type":"boolean"},"offset":{"type":"integer"},"limit":{"type":"integer"})",
     "", tables},
    {"console", "Console output",
     "What a run printed: the last 40 lines, lines from a number on, or lines that hold a text "
     "(q).",
     R"("run":{"type":"string"},"q":{"type":"string"},"from":{"type":"integer","description":"line number, negative from the end"},"limit":{"type":"integer"})",
     R"(["run"])", console},
};

}  // namespace

std::span<const Tool> beside_tools() { return kTools; }

}  // namespace sonde::api::mcp
