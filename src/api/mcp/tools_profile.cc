// Tools about captures: sessions, findings, tables of ops and kernels, SQL, comparisons.
#include <fmt/format.h>

#include <algorithm>

#include "api/mcp/tool.h"

namespace sonde::api::mcp {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

std::string text_at(const JsonValue& value, std::string_view name) {
  const JsonValue* found = value.find(name);
  return !found ? "" : found->is_string() ? found->text : to_text(*found);
}

// The session a call names, or the newest.
Result<std::string> session_of(const Call& call, std::string_view name = "session") {
  SONDE_TRY(given, call.text(name));
  if (!given.empty()) return given;
  SONDE_TRY(sessions, ask(call.context, "GET", "profile/sessions", {}, ""));
  if (sessions.items.empty()) return fail(Code::kNotFound, "the log directory holds no profile");
  return text_at(sessions.items.front(), "id");
}

Result<std::string> profiles(const Call& call) {
  SONDE_TRY(sessions, ask(call.context, "GET", "profile/sessions", {}, ""));
  RowsAnswer rows({"session", "run", "start", "hosts", "bytes", "formats", "state"},
                  call.budget_bytes);
  for (const JsonValue& session : sessions.items) {
    std::string row = "[";
    bool first = true;
    for (const char* field : {"id", "run", "start", "hosts", "bytes", "formats", "state"}) {
      if (!first) row += ',';
      first = false;
      const JsonValue* value = session.find(field);
      append_cell(row, value ? *value : JsonValue{}, 200);
    }
    rows.add(row + "]");
  }
  return rows.finish(sessions.items.size(), "raise max_tokens");
}

// Rows of one of a report's tables, as far as they fit.
std::string table_rows(const JsonValue& table, size_t budget, std::string_view how) {
  std::vector<std::string> names;
  if (const JsonValue* columns = table.find("columns")) {
    for (const JsonValue& column : columns->items) {
      std::string name = text_at(column, "id");
      if (const std::string unit = text_at(column, "unit"); !unit.empty())
        name += " [" + unit + "]";
      names.push_back(std::move(name));
    }
  }
  RowsAnswer rows(names, budget);
  size_t count = 0;
  if (const JsonValue* list = table.find("rows")) {
    count = list->items.size();
    for (const JsonValue& cells : list->items) {
      std::string row = "[";
      for (size_t i = 0; i < cells.items.size(); ++i) {
        if (i > 0) row += ',';
        append_cell(row, cells.items[i], 160);
      }
      rows.add(row + "]");
    }
  }
  const JsonValue* total = table.find("total");
  return rows.finish(total && total->integer() ? static_cast<size_t>(*total->integer()) : count,
                     how);
}

Result<std::string> report(const Call& call) {
  SONDE_TRY(session, session_of(call));
  SONDE_TRY(tool, call.text("tool", "overview_page"));
  SONDE_TRY(baseline, call.text("baseline"));
  Query query{{"session", session}, {"tool", tool}};
  if (!baseline.empty()) query.emplace_back("baseline", baseline);
  if (tool == "list") {
    SONDE_TRY(tools, ask(call.context, "GET", "profile/tools", {{"session", session}}, ""));
    RowsAnswer rows({"tool", "title", "has_data", "reason"}, call.budget_bytes);
    const JsonValue* list = tools.find("tools");
    for (const JsonValue& one : items_of(list)) {
      std::string row = "[";
      for (const char* field : {"id", "title", "has_data", "reason"}) {
        if (row.size() > 1) row += ',';
        const JsonValue* value = one.find(field);
        append_cell(row, value ? *value : JsonValue{}, 160);
      }
      rows.add(row + "]");
    }
    return rows.finish(list ? list->items.size() : 0, "raise max_tokens");
  }
  SONDE_TRY(found, ask(call.context, "GET", "profile/report", std::move(query), ""));
  std::string out = "{\"session\":";
  append_json_string(out, session);
  std::string left;
  for (const char* name : {"title", "figures", "findings", "missing", "diagnostics"}) {
    const JsonValue* value = found.find(name);
    if (!value || (value->is_array() && value->items.empty())) continue;
    if (!value->is_array()) {
      out += fmt::format(",\"{}\":", name) + to_text(*value);
      continue;
    }
    out += fmt::format(",\"{}\":[", name);
    size_t shown = 0;
    for (const JsonValue& item : value->items) {
      const std::string text = to_text(item);
      if (out.size() + text.size() > call.budget_bytes * 3 / 4) break;
      out += (shown++ > 0 ? "," : "") + text;
    }
    out += "]";
    if (shown < value->items.size())
      left += fmt::format("{}{} of {} {}", left.empty() ? "" : ", ", value->items.size() - shown,
                          value->items.size(), name);
  }
  out += ",\"tables\":[";
  if (const JsonValue* tables = found.find("tables")) {
    for (size_t i = 0; i < tables->items.size(); ++i) {
      const JsonValue& table = tables->items[i];
      std::string one = i > 0 ? ",{\"id\":" : "{\"id\":";
      append_json_string(one, text_at(table, "id"));
      one += ",\"rows\":" + text_at(table, "total") + "}";
      if (out.size() + one.size() + 200 > call.budget_bytes) break;
      out += one;
    }
  }
  out += R"(],"hint":"profile_table shows the rows of a table")";
  if (!left.empty()) {
    out += ",\"left_out\":";
    append_json_string(out, left + " are left out; raise max_tokens");
  }
  return out + "}";
}

Result<std::string> profile_table(const Call& call) {
  SONDE_TRY(session, session_of(call));
  SONDE_TRY(tool, call.text("tool"));
  SONDE_TRY(table, call.text("table"));
  SONDE_TRY(sort, call.text("sort"));
  SONDE_TRY(match, call.text("filter"));
  SONDE_TRY(filter_column, call.text("filter_column"));
  SONDE_TRY(baseline, call.text("baseline"));
  SONDE_TRY(limit, call.integer("limit", 100, 1, 1000));
  const JsonValue* ascending = call.arguments.find("ascending");
  Query query{{"session", session}, {"tool", tool}};
  if (!baseline.empty()) query.emplace_back("baseline", baseline);
  SONDE_TRY(found, ask(call.context, "GET", "profile/report", std::move(query), ""));
  const JsonValue* tables = found.find("tables");
  const JsonValue* chosen = nullptr;
  for (const JsonValue& one : items_of(tables)) {
    if (table.empty() || text_at(one, "id") == table) {
      chosen = &one;
      break;
    }
  }
  if (!chosen)
    return fail(Code::kNotFound,
                fmt::format("tool '{}' has no table '{}'; profile_report lists them", tool, table));
  JsonValue shown = *chosen;
  if (!sort.empty() || !match.empty()) {
    std::string body = "{\"session\":";
    append_json_string(body, session);
    body += ",\"tool\":";
    append_json_string(body, tool);
    body += ",\"table\":";
    append_json_string(body, text_at(*chosen, "id"));
    if (!baseline.empty()) {
      body += ",\"baseline\":";
      append_json_string(body, baseline);
    }
    if (!sort.empty()) {
      body += ",\"sort\":[[";
      append_json_string(body, sort);
      body += ascending && ascending->boolean ? ",\"asc\"]]" : ",\"desc\"]]";
    }
    if (!match.empty()) {
      std::string column = filter_column;
      if (column.empty()) {
        const JsonValue* columns = chosen->find("columns");
        for (const JsonValue& one : items_of(columns)) {
          if (text_at(one, "type") == "string" || text_at(one, "type") == "text") {
            column = text_at(one, "id");
            break;
          }
        }
      }
      body += ",\"filter\":[{\"col\":";
      append_json_string(body, column);
      body += ",\"re\":";
      append_json_string(body, match);
      body += "}]";
    }
    body += fmt::format(",\"limit\":{}}}", limit);
    SONDE_TRY(rows, ask(call.context, "POST", "profile/rows", {}, std::move(body)));
    std::erase_if(shown.members,
                  [](const JsonMember& m) { return m.first == "rows" || m.first == "total"; });
    for (JsonMember& member : rows.members) {
      if (member.first == "rows" || member.first == "total")
        shown.members.push_back(std::move(member));
    }
  }
  return table_rows(shown, call.budget_bytes, "sort, filter or raise max_tokens");
}

Result<std::string> trace_sql(const Call& call) {
  SONDE_TRY(session, session_of(call));
  SONDE_TRY(sql, call.text("sql"));
  SONDE_TRY(host, call.integer("host", 0, 0, 1'000'000));
  if (sql.empty()) {
    SONDE_TRY(schema, ask(call.context, "GET", "trace/schema", {}, ""));
    RowsAnswer rows({"table", "columns"}, call.budget_bytes);
    const JsonValue* tables = schema.find("tables");
    for (const JsonValue& table : items_of(tables)) {
      std::string row = "[";
      append_json_string(row, text_at(table, "name"));
      const JsonValue* columns = table.find("columns");
      rows.add(row + "," + (columns ? to_text(*columns) : "[]") + "]");
    }
    return rows.finish(tables ? tables->items.size() : 0, "raise max_tokens");
  }
  std::string body = "{\"sql\":";
  append_json_string(body, sql);
  body += R"(,"limit":2000})";
  SONDE_TRY(found, ask(call.context, "POST", "trace/sql",
                       {{"session", session}, {"host", std::to_string(host)}}, std::move(body)));
  const JsonValue* table = found.find("table");
  if (!table) return fail(Code::kInvalid, "the query gave no table");
  return table_rows(*table, call.budget_bytes, "add a LIMIT or an aggregate, or raise max_tokens");
}

constexpr Tool kTools[] = {
    {"profiles", "Profiles", "Captured profiles (sessions), newest first.", "", "", profiles},
    {"profile_report", "Profile report",
     "Figures, findings (largest possible saving first) and tables of one profiling tool. tool "
     "'list' names the tools: overview_page, op tables, kernels, memory, input pipeline …; with "
     "'baseline' every number is [value, baseline]; tool 'compare' compares two captures.",
     R"("session":{"type":"string","description":"from profiles, the newest unless given"},"tool":{"type":"string","description":"default overview_page"},"baseline":{"type":"string"})",
     "", report},
    {"profile_table", "Profile table",
     "Rows of a table of a profiling tool (ops, kernels …), sorted and filtered; with 'baseline', "
     "another session, every number is [value, baseline].",
     R"("session":{"type":"string"},"tool":{"type":"string"},"table":{"type":"string","description":"default: the first"},"sort":{"type":"string","description":"column id"},"ascending":{"type":"boolean"},"filter":{"type":"string","description":"regular expression"},"filter_column":{"type":"string"},"baseline":{"type":"string","description":"another session"},"limit":{"type":"integer","minimum":1})",
     R"(["tool"])", profile_table},
    {"trace_sql", "SQL over a trace",
     "One read-only SQL query over a captured trace. Without 'sql': tables and columns.",
     R"("session":{"type":"string"},"sql":{"type":"string"},"host":{"type":"integer","minimum":0})",
     "", trace_sql},
};

}  // namespace

std::span<const Tool> profile_tools() { return kTools; }

}  // namespace sonde::api::mcp
