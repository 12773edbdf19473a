// Tools about runs: the list, comparisons, hyperparameters, what a run was started with, damage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/mcp/tool.h"
#include "api/v1/support.h"
#include "io/file.h"

namespace sonde::api::mcp {
namespace {

// An answer of POST table or POST hparams/table as rows.
Result<std::string> rows_of(const Call& call, const JsonValue& table, std::string_view how) {
  const JsonValue* columns = table.find("columns");
  const JsonValue* data = table.find("data");
  const JsonValue* total = table.find("total");
  if (!columns || !data) return fail(Code::kInvalid, "the table has no columns");
  std::vector<std::string> names;
  for (const JsonValue& column : columns->items) {
    const JsonValue* id = column.find("id");
    names.push_back(id ? id->text : "");
  }
  const size_t rows = data->items.empty() ? 0 : data->items.front().items.size();
  RowsAnswer out(names, call.budget_bytes);
  for (size_t r = 0; r < rows; ++r) {
    std::string row = "[";
    for (size_t c = 0; c < data->items.size(); ++c) {
      if (c > 0) row += ',';
      if (r < data->items[c].items.size())
        append_cell(row, data->items[c].items[r], 120);
      else
        row += "null";
    }
    out.add(row + "]");
  }
  return out.finish(total && total->integer() ? static_cast<size_t>(*total->integer()) : rows, how);
}

void append_list(std::string& out, const std::vector<std::string>& words) {
  out += '[';
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, words[i]);
  }
  out += ']';
}

// "val/acc", "val/acc:max" or "val/acc:at_min:val/loss" as a column.
std::string metric_column(const std::string& metric) {
  const size_t colon = metric.rfind(':');
  const bool has_what = colon != std::string::npos && metric.find('/', colon) == std::string::npos;
  const bool is_joined =
      metric.find(":at_min:") != std::string::npos || metric.find(":at_max:") != std::string::npos;
  return "metric:" + metric + (has_what || is_joined ? "" : ":last");
}

Result<std::string> list_runs(const Call& call) {
  SONDE_TRY(filter, call.text("filter"));
  SONDE_TRY(metrics, call.texts("metrics"));
  SONDE_TRY(hparams, call.texts("hparams"));
  SONDE_TRY(names, call.texts("runs"));
  SONDE_TRY(sort, call.text("sort"));
  SONDE_TRY(limit, call.integer("limit", 1000, 1, 100'000));
  const JsonValue* descending = call.arguments.find("descending");
  const bool plain = metrics.empty() && hparams.empty();
  std::vector<std::string> columns{"name", "state"};
  if (plain) columns.insert(columns.end(), {"start", "duration", "points", "segments", "damage"});
  for (const std::string& metric : metrics) columns.push_back(metric_column(metric));
  for (const std::string& hparam : hparams) columns.push_back("hparam:" + hparam);
  std::string body = "{\"columns\":";
  append_list(body, columns);
  body += ",\"filter\":[";
  if (!filter.empty()) {
    body += R"({"col":"name","re":)";
    append_json_string(body, filter);
    body += "}";
  }
  if (!names.empty()) {
    body += filter.empty() ? "" : ",";
    body += R"({"col":"name","in":)";
    append_list(body, names);
    body += "}";
  }
  body += "]";
  if (!sort.empty()) {
    const bool is_column = std::ranges::count(columns, sort) > 0 || sort.starts_with("metric:") ||
                           sort.starts_with("hparam:");
    body += ",\"sort\":[[";
    append_json_string(body, is_column ? sort : metric_column(sort));
    body +=
        descending && descending->is_bool() && descending->boolean ? ",\"desc\"]]" : ",\"asc\"]]";
  }
  body += fmt::format(",\"limit\":{}}}", limit);
  SONDE_TRY(table, ask(call.context, "POST", "table", {}, std::move(body)));
  return rows_of(call, table, "narrow with filter, sort with limit, or raise max_tokens");
}

Result<std::string> compare_runs(const Call& call) {
  SONDE_TRY(metrics, call.texts("metrics"));
  SONDE_TRY(names, call.texts("runs"));
  if (metrics.empty()) return fail(Code::kInvalid, "give 'metrics', e.g. [\"val/acc:max\"]");
  SONDE_TRY(runs, list_runs(call));
  // What differs between the runs, from their hyperparameters.
  std::string body = R"({"rows":"sessions","limit":2000})";
  auto table = ask(call.context, "POST", "hparams/table", {}, std::move(body));
  std::string differs;
  if (table) {
    if (const JsonValue* columns = table->find("columns")) {
      for (const JsonValue& column : columns->items) {
        const JsonValue *flag = column.find("differs"), *id = column.find("id");
        if (!flag || !flag->boolean || !id) continue;
        if (differs.size() > call.budget_bytes / 4) break;
        differs += differs.empty() ? "" : ",";
        append_json_string(differs, id->text);
      }
    }
  }
  if (!differs.empty())
    runs.insert(runs.size() - 1, ",\"hyperparameters_that_differ\":[" + differs +
                                     "],\"hint\":\"list_runs with 'hparams' shows their values\"");
  return runs;
}

Result<std::string> hparams(const Call& call) {
  SONDE_TRY(metric, call.text("metric"));
  SONDE_TRY(sort, call.text("sort"));
  SONDE_TRY(limit, call.integer("limit", 200, 1, 10'000));
  std::string importance;
  if (!metric.empty()) {
    const std::string column = metric_column(metric).substr(7);
    std::string body = "{\"metric\":";
    append_json_string(body, column);
    body += R"(,"method":"spearman","rows":"sessions"})";
    auto found = ask(call.context, "POST", "hparams/importance", {}, std::move(body));
    if (!found) return fail(found.error());
    if (const JsonValue* columns = found->find("columns")) {
      for (const JsonValue& one : columns->items) {
        if (importance.size() > call.budget_bytes / 3) break;
        importance += importance.empty() ? "" : ",";
        importance += to_text(one);
      }
    }
  }
  std::string body = R"({"rows":"sessions")";
  if (!metric.empty()) {
    body += ",\"sort\":[[";
    append_json_string(body, metric_column(metric));
    body += sort == "asc" ? ",\"asc\"]]" : ",\"desc\"]]";
  }
  body += fmt::format(",\"limit\":{}}}", limit);
  SONDE_TRY(table, ask(call.context, "POST", "hparams/table", {}, std::move(body)));
  Call smaller{call.context, call.arguments,
               call.budget_bytes - std::min(call.budget_bytes / 2, importance.size() + 40)};
  SONDE_TRY(rows, rows_of(smaller, table, "sort by a metric with 'limit', or raise max_tokens"));
  if (!metric.empty()) rows.insert(1, "\"importance_spearman\":[" + importance + "],");
  return rows;
}

// The small files beside the events that say what a run was started with.
Result<std::string> run_info(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  SONDE_TRY(name, call.text("run"));
  const store::RunSnapshot* run = snapshot->find(name);
  if (!run) return fail(Code::kNotFound, fmt::format("there is no run '{}'", name));
  std::string out = "{\"run\":";
  append_json_string(out, run->name);
  out += fmt::format(R"(,"points":{},"segments":{},"tags":{})", run->points, run->segments,
                     run->series.size());
  constexpr uint64_t kMostBytes = 4 << 20;
  for (const auto& [file, key] :
       {std::pair{"sonde_run.json", "started_with"}, std::pair{"config.json", "config"}}) {
    const auto text = io::read_file(run->folder + "/" + file, kMostBytes);
    if (!text) continue;
    auto read = read_json(*text);
    if (!read) continue;
    if (key == std::string_view("started_with")) {
      std::erase_if(read->members, [](const JsonMember& m) { return m.first == "config"; });
      for (JsonMember& member : read->members) {
        if (member.first != "environment") continue;
        std::erase_if(member.second.members,
                      [](const JsonMember& m) { return m.first == "packages"; });
      }
    }
    const std::string one = to_text(*read);
    if (out.size() + one.size() + 40 > call.budget_bytes) {
      out += fmt::format(R"(,"{}":"left out: {} bytes; raise max_tokens")", key, one.size());
      continue;
    }
    out += fmt::format(",\"{}\":", key) + one;
  }
  return out + "}";
}

Result<std::string> diagnosis(const Call& call) {
  SONDE_TRY(found, ask(call.context, "GET", "diagnosis", {{"count", "1000"}}, ""));
  RowsAnswer rows({"file", "run", "byte", "length", "kind", "severity", "text", "advice"},
                  call.budget_bytes);
  std::string note;
  for (const char* name : {"hints", "skipped", "scanned"}) {
    const JsonValue* value = found.find(name);
    if (!value) continue;
    const std::string text = to_text(*value);
    note += note.empty() ? "" : ",";
    note += fmt::format("\"{}\":", name) +
            (text.size() > call.budget_bytes / 4
                 ? fmt::format("\"{} entries, left out\"", value->items.size())
                 : text);
  }
  if (!note.empty()) rows.note(note);
  size_t total = 0;
  if (const JsonValue* files = found.find("files")) {
    for (const JsonValue& file : files->items) {
      const JsonValue *damage = file.find("damage"), *path = file.find("path"),
                      *run = file.find("run");
      if (!damage) continue;
      for (const JsonValue& one : damage->items) {
        ++total;
        std::string row = "[";
        append_cell(row, path ? *path : JsonValue{}, 200);
        row += ',';
        append_cell(row, run ? *run : JsonValue{}, 200);
        for (const char* field : {"offset", "length", "kind", "severity", "text", "advice"}) {
          row += ',';
          const JsonValue* value = one.find(field);
          append_cell(row, value ? *value : JsonValue{}, 200);
        }
        rows.add(row + "]");
      }
    }
  }
  return rows.finish(total, "raise max_tokens");
}

constexpr Tool kTools[] = {
    {"list_runs", "Runs",
     "Runs as a table. 'metrics' adds columns: 'tag' (last value), 'tag:min', 'tag:max', "
     "'tag:mean', 'tag:first', 'tag:count', 'tag:step', 'a:at_min:b' (a where b is smallest). "
     "'hparams' adds hyperparameters. 'sort' takes a column, a metric or 'hparam:name'.",
     R"("filter":{"type":"string","description":"regular expression over run names"},"runs":{"type":"array","items":{"type":"string"}},"metrics":{"type":"array","items":{"type":"string"}},"hparams":{"type":"array","items":{"type":"string"}},"sort":{"type":"string"},"descending":{"type":"boolean"},"limit":{"type":"integer","minimum":1})",
     "", list_runs},
    {"compare_runs", "Compare runs",
     "Metrics of several runs side by side, and which hyperparameters differ between them.",
     R"("metrics":{"type":"array","items":{"type":"string"},"description":"as in list_runs"},"runs":{"type":"array","items":{"type":"string"}},"filter":{"type":"string"},"sort":{"type":"string"},"descending":{"type":"boolean"},"limit":{"type":"integer","minimum":1})",
     R"(["metrics"])", compare_runs},
    {"hparams", "Hyperparameters",
     "Trials with hyperparameters and metrics; with 'metric' sorted by it (descending unless "
     "sort is 'asc') and with each hyperparameter's rank correlation and its 95 % interval.",
     R"("metric":{"type":"string","description":"tag or tag:max"},"sort":{"enum":["asc","desc"]},"limit":{"type":"integer","minimum":1})",
     "", hparams},
    {"run_info", "What a run was started with",
     "Config, command, git commit, host and environment of one run.", R"("run":{"type":"string"})",
     R"(["run"])", run_info},
    {"diagnosis", "Damage and problems",
     "Damaged, skipped and unreadable files, each with what to do about it.", "", "", diagnosis},
};

}  // namespace

std::span<const Tool> run_tools() { return kTools; }

}  // namespace sonde::api::mcp
