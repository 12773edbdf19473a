// GET profile/sessions, profile/tools, profile/report; POST profile/rows: the tools' Reports for
// the page.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "api/services/captures.h"
#include "api/services/digests.h"
#include "api/v1/area.h"
#include "api/v1/profile/capture_json.h"
#include "api/v1/support.h"
#include "base/regex.h"
#include "capture/analysis/analysis.h"
#include "capture/report/render.h"
#include "capture/report/row_pairs.h"
#include "capture/tools/compare.h"
#include "capture/trace/builder.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kInlineRows = 1000;
constexpr std::string_view kWhere = "GET profile/sessions lists what there is";

Answer answer_of(const Context& context, std::string body) {
  return json_answer(context, context.store.snapshot()->revision, std::move(body));
}

Answer sessions(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const Captures::Entry& entry : *context.services.captures().list(context)) {
      json.object([&] {
        json.key("id").string(entry.id);
        json.key("run").string(entry.files.run);
        json.key("name").string(entry.files.name);
        int64_t newest = 0;
        uint64_t bytes = 0;
        std::vector<std::string_view> formats;
        for (const imports::CaptureFile& file : entry.files.files) {
          newest = std::max(newest, file.modified_ns);
          bytes += file.bytes;
          const std::string_view format = file_format(file.kind);
          if (std::find(formats.begin(), formats.end(), format) == formats.end())
            formats.push_back(format);
        }
        json.key("start").number(static_cast<double>(newest) / 1e9);
        json.key("hosts").array([&] {
          for (const imports::CaptureFile* file : entry.files.captures()) json.string(file->host);
        });
        json.key("bytes").number(bytes);
        json.key("formats").array([&] {
          for (const std::string_view format : formats) json.string(format);
        });
        const bool has_results =
            std::any_of(entry.files.files.begin(), entry.files.files.end(),
                        [](const auto& file) { return file.kind == imports::FileKind::kToolData; });
        json.key("state").string(!entry.files.captures().empty() ? "ready"
                                 : has_results                   ? "recorded"
                                                                 : "empty");
      });
    }
    for (const DigestFolder& folder : *digest_folders(context)) {
      json.object([&] {
        json.key("id").string("digest:" + folder.id);
        json.key("run").string("");
        json.key("name").string(folder.id == "." ? "digests" : folder.id);
        json.key("start").number(static_cast<double>(folder.modified_ns) / 1e9);
        json.key("hosts").array([] {});  // thousands; GET digests/ranks has them
        json.key("captures").number(folder.captures);
        json.key("bytes").number(folder.bytes);
        json.key("formats").array([&] { json.string("digest"); });
        json.key("state").string("digest");
      });
    }
  });
  return answer_of(context, std::move(body));
}

Answer tools(const Context& context, const Request& request) {
  SONDE_ANSWER(id, text_param(request, "session"));
  SONDE_ANSWER(capture, context.services.captures().load(context, id));
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("session").string(id);
    json.key("hosts").array([&] {
      for (const trace::Host& host : capture->session.hosts()) {
        json.object([&] {
          json.key("name").string(host.name);
          json.key("format").string(host.trace->format());
          json.key("bytes").number(host.file_bytes);
          json.key("slices").number(host.trace->slice_count());
        });
      }
    });
    json.key("tools").array([&] {
      for (const capture::Tool* tool : capture::all_tools()) {
        const std::string reason = why_not(*capture, *tool);
        json.object([&] {
          json.key("id").string(tool->id);
          json.key("title").string(tool->title);
          json.key("has_data").boolean(reason.empty());
          if (!reason.empty()) json.key("reason").string(reason);
        });
      }
    });
    write_diagnostics(json, *capture);
  });
  return answer_of(context, std::move(body));
}

capture::Options options_of(const Request& request) {
  capture::Options options;
  for (const auto& [key, value] : request.query) {
    if (key == "host") {
      options.host = value;
    } else if (key != "session" && key != "tool" && key != "baseline" && key != "format" &&
               key != "begin_ps" && key != "end_ps") {
      options.parameters.emplace_back(key, value);
    }
  }
  return options;
}

// What a request wants of a session: all of it, or what lies in a range of time.
struct Wanted {
  std::string session;
  std::optional<Captures::Part> part = {};
};

// The ends of a range: both or neither.
Result<std::optional<Captures::Part>> part_of(std::string_view begin, std::string_view end,
                                              std::string_view host) {
  if (begin.empty() && end.empty()) return std::optional<Captures::Part>();
  int64_t from = 0, to = 0;
  for (const auto& [text, value] : {std::pair{begin, &from}, std::pair{end, &to}}) {
    const auto [at, failed] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (failed != std::errc() || at != text.data() + text.size())
      return fail(Code::kInvalid, "begin_ps and end_ps are whole picoseconds, both or neither");
  }
  return std::optional(
      Captures::Part{{trace::clamped_begin(from)}, {trace::clamped_begin(to)}, std::string(host)});
}

Result<capture::Report> run(const Context& context, const Wanted& wanted,
                            std::string_view tool_name, const capture::Options& options) {
  Captures& captures = context.services.captures();
  SONDE_TRY(capture, wanted.part ? captures.part(context, wanted.session, *wanted.part)
                                 : captures.load(context, wanted.session));
  const capture::Tool* tool = capture::find_tool(tool_name);
  if (!tool) return fail(Code::kNotFound, fmt::format("there is no profile tool '{}'", tool_name));
  return report_of(*capture, *tool, options);
}

Answer report(const Context& context, const Request& request) {
  SONDE_ANSWER(session, text_param(request, "session"));
  const std::string tool(request.param("tool").value_or("overview_page"));
  const std::string baseline(request.param("baseline").value_or(""));
  if (tool == "compare") {
    if (baseline.empty())
      return error({Code::kInvalid, "compare needs the parameter baseline"}, "baseline", kWhere);
    SONDE_ANSWER(now, context.services.captures().load(context, session));
    SONDE_ANSWER(before, context.services.captures().load(context, baseline));
    return answer_of(
        context, capture::to_v1_json(capture::compare(before->session, now->session), kInlineRows));
  }
  SONDE_ANSWER(part,
               part_of(request.param("begin_ps").value_or(""), request.param("end_ps").value_or(""),
                       request.param("host").value_or("")));
  SONDE_ANSWER(found, run(context, {session, part}, tool, options_of(request)));
  if (request.param("format").value_or("") == "csv") {
    const std::string_view id = request.param("table").value_or("");
    const capture::Table* table =
        id.empty() ? (found.tables.empty() ? nullptr : &found.tables[0]) : found.find(id);
    if (!table) return error({Code::kNotFound, fmt::format("the report has no table '{}'", id)});
    Answer answer;
    answer.content_type = "text/csv; charset=utf-8";
    answer.body = capture::to_csv(*table);
    return answer;
  }
  if (baseline.empty()) return answer_of(context, capture::to_v1_json(found, kInlineRows));
  SONDE_ANSWER(other, run(context, {baseline}, tool, options_of(request)));
  return answer_of(context, capture::to_v1_json(found, kInlineRows, &other));
}

double number_of(const capture::Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? 1 : 0;
  return -std::numeric_limits<double>::infinity();
}

// [{col, in|min|max|re|missing}], all of which must hold.
Result<void> filter_rows(const JsonValue& filters, capture::Table& table) {
  for (const JsonValue& filter : filters.items) {
    SONDE_TRY(name, text_in(filter, "col"));
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const auto& c) { return c.id == name; });
    if (column == table.columns.end()) return fail(Code::kInvalid, "no column '" + name + "'");
    const auto c = static_cast<size_t>(column - table.columns.begin());
    std::optional<Regex> pattern;
    if (const JsonValue* text = filter.find("re")) {
      SONDE_TRY(compiled, Regex::compile(text->text));
      pattern = std::move(compiled);
    }
    const JsonValue* low = filter.find("min");
    const JsonValue* high = filter.find("max");
    const JsonValue* in = filter.find("in");
    std::erase_if(table.rows, [&](const std::vector<capture::Cell>& row) {
      const capture::Cell& cell = row[c];
      if (pattern && !pattern->found_in(capture::cell_text(cell))) return true;
      if (low && number_of(cell) < low->number().value_or(0)) return true;
      if (high && number_of(cell) > high->number().value_or(0)) return true;
      if (!in) return false;
      return std::none_of(in->items.begin(), in->items.end(),
                          [&](const JsonValue& v) { return v.text == capture::cell_text(cell); });
    });
  }
  return {};
}

// The fields of a body that are not the route's own go to the tool, as in GET profile/report.
Result<capture::Options> options_in(const JsonValue& body) {
  constexpr std::string_view kOwn[] = {"session", "tool",   "baseline", "table",    "sort",
                                       "filter",  "offset", "limit",    "begin_ps", "end_ps"};
  capture::Options options;
  for (const auto& [key, value] : body.members) {
    if (value.is_null() || std::find(std::begin(kOwn), std::end(kOwn), key) != std::end(kOwn))
      continue;
    if (!value.is_string() && !value.is_number())
      return fail(Code::kInvalid, fmt::format("'{}' must be a text or a number", key));
    if (key == "host") {
      options.host = value.text;
    } else {
      options.parameters.emplace_back(key, value.text);
    }
  }
  return options;
}

// A table of the answer: what is filtered and sorted is a copy whose rows end with a cell of their
// own, the row's place in the report.
struct RowsAnswer {
  const capture::Table& table;
  capture::RowPairs pairs;
  capture::Table shown;

  RowsAnswer(const capture::Table& source, const capture::Table* baseline)
      : table(source), pairs(capture::pairs_of(source, baseline)), shown(source) {
    for (size_t r = 0; r < shown.rows.size(); ++r)
      shown.rows[r].emplace_back(static_cast<int64_t>(r));
  }
  size_t place(const capture::Row& row) const {
    return static_cast<size_t>(std::get<int64_t>(row.back()));
  }
};

// Sorts by how much a number grew over the baseline; rows that it lacks come last.
void sort_by_change(RowsAnswer& answer, size_t column, bool descending) {
  const auto change = [&](const capture::Row& row) {
    const capture::Row* base = answer.pairs.base[answer.place(row)];
    const double worst = -std::numeric_limits<double>::infinity();
    if (!base) return worst;
    const double value = number_of(row[column]) - number_of((*base)[column]);
    return std::isnan(value) ? worst : descending ? value : -value;
  };
  std::stable_sort(answer.shown.rows.begin(), answer.shown.rows.end(),
                   [&](const auto& a, const auto& b) { return change(a) > change(b); });
}

// [[column, "asc"|"desc"], …]; a third word "change" sorts by the difference to the baseline.
Result<void> sort_rows(const JsonValue& sort, RowsAnswer& answer) {
  capture::Table& table = answer.shown;
  for (size_t i = sort.items.size(); i-- > 0;) {
    const JsonValue& entry = sort.items[i];
    if (!entry.is_array() || entry.items.empty())
      return fail(Code::kInvalid, "sort is a list of [column, \"asc\"|\"desc\"]");
    const std::string& name = entry.items[0].text;
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const auto& c) { return c.id == name; });
    if (column == table.columns.end()) return fail(Code::kInvalid, "no column '" + name + "'");
    const auto c = static_cast<size_t>(column - table.columns.begin());
    const bool descending = entry.items.size() > 1 && entry.items[1].text == "desc";
    if (entry.items.size() > 2 && entry.items[2].text == "change") {
      sort_by_change(answer, c, descending);
      continue;
    }
    const bool is_text = column->type == capture::Type::kText;
    std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
      const auto& left = descending ? b[c] : a[c];
      const auto& right = descending ? a[c] : b[c];
      return is_text ? capture::cell_text(left) < capture::cell_text(right)
                     : number_of(left) < number_of(right);
    });
  }
  return {};
}

Answer rows(const Context& context, const Request& request) {
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(session, text_in(body, "session"));
  SONDE_ANSWER(tool, text_in(body, "tool", "overview_page"));
  SONDE_ANSWER(baseline, text_in(body, "baseline", ""));
  SONDE_ANSWER(table_id, text_in(body, "table"));
  SONDE_ANSWER(offset, integer_in(body, "offset", 0));
  SONDE_ANSWER(limit, integer_in(body, "limit", kInlineRows));
  SONDE_ANSWER(options, options_in(body));
  const auto text_at = [&](std::string_view name) {
    const JsonValue* value = body.find(name);
    return value && (value->is_string() || value->is_number()) ? value->text : std::string();
  };
  SONDE_ANSWER(part, part_of(text_at("begin_ps"), text_at("end_ps"), options.host));
  SONDE_ANSWER(found, run(context, {session, part}, tool, options));
  const capture::Table* table = found.find(table_id);
  if (!table)
    return error({Code::kNotFound, "the report has no table '" + table_id + "'"}, "table");
  capture::Report before;
  if (!baseline.empty()) {
    SONDE_ANSWER(other, run(context, {baseline}, tool, options));
    before = std::move(other);
  }
  RowsAnswer answer(*table, before.find(table_id));
  capture::Table gone{table->id, table->title};
  gone.columns = table->columns;
  for (const capture::Row* row : answer.pairs.gone) gone.rows.push_back(*row);
  if (const JsonValue* filters = body.find("filter")) {
    if (auto done = filter_rows(*filters, answer.shown); !done)
      return error(done.error(), "filter");
    if (auto done = filter_rows(*filters, gone); !done) return error(done.error(), "filter");
  }
  if (const JsonValue* sort = body.find("sort")) {
    if (auto done = sort_rows(*sort, answer); !done) return error(done.error(), "sort");
  }
  const auto first = static_cast<size_t>(std::max<int64_t>(0, offset));
  const auto most = static_cast<size_t>(std::clamp<int64_t>(limit, 0, 100'000));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(answer.shown.rows.size()));
    json.key("rows").array([&] {
      for (size_t r = first; r < answer.shown.rows.size() && r - first < most; ++r) {
        const size_t place = answer.place(answer.shown.rows[r]);
        capture::append_row(json, table->rows[place], answer.pairs.base[place],
                            baseline.empty() ? capture::Paired::kNo : capture::Paired::kYes);
      }
    });
    if (baseline.empty()) return;
    json.key("gone_total").number(static_cast<uint64_t>(gone.rows.size()));
    json.key("gone").array([&] {
      for (size_t r = 0; r < std::min(most, gone.rows.size()); ++r)
        capture::append_gone(json, gone.rows[r]);
    });
  });
  return answer_of(context, std::move(out));
}

Effort effort_of_analysis(const Context&, const Request&) { return Effort::kLong; }

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/profile/sessions", sessions},
    {"GET", "/api/v1/profile/tools", tools, kMaxBodyBytes, effort_of_analysis},
    {"GET", "/api/v1/profile/report", report, kMaxBodyBytes, effort_of_analysis},
    {"POST", "/api/v1/profile/rows", rows, kMaxBodyBytes, effort_of_analysis},
};

}  // namespace

std::span<const Route> profile_routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> routes(std::begin(kRoutes), std::end(kRoutes));
    routes.insert(routes.end(), session_routes().begin(), session_routes().end());
    return routes;
  }();
  return all;
}

}  // namespace sonde::api::v1
