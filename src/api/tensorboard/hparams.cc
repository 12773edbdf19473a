// TensorBoard's hparams plug-in.
#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/hparams_json.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "codec/json_read.h"

namespace sonde::api::tensorboard {
namespace {

namespace hp = query::hparams;

// The JSON of a request: the body of a POST that is no form, the parameter `request` otherwise.
std::string request_text(const Request& request) {
  if (request.method != "POST") return std::string(request.param("request").value_or(""));
  const std::string_view type = request.header("content-type");
  const bool is_form = type.starts_with("application/x-www-form-urlencoded") ||
                       type.starts_with("multipart/form-data");
  return is_form ? std::string() : request.body;
}

Answer experiment(const Context& context, const Request& request) {
  const auto wanted = experiment_request(request_text(request));
  if (!wanted) return failed(wanted.error());
  const auto snapshot = context.store.snapshot();
  const auto records = hp::collect(*snapshot);
  if (!records) return failed(records.error());
  return Answer::json(
      experiment_json(hp::experiment(*records, *snapshot, wanted->metrics, wanted->limit)));
}

// A Python slice [start : start + size] of a list.
std::pair<size_t, size_t> page_of(int64_t start, int64_t size, size_t total) {
  const auto count = static_cast<int64_t>(total);
  const auto place = [&](int64_t index) {
    return static_cast<size_t>(std::clamp<int64_t>(index < 0 ? index + count : index, 0, count));
  };
  const size_t begin = place(start), end = place(start + size);
  return {begin, std::max(begin, end)};
}

// What session_groups and download_data answer from: the groups a request asks for, of which
// `page` is the slice it wants. Groups point into the records.
struct GroupPage {
  hp::Records records;
  hp::Experiment experiment;
  std::vector<hp::Group> groups;
  size_t begin = 0, end = 0;

  std::span<const hp::Group> page() const { return std::span(groups).subspan(begin, end - begin); }
};

Result<std::unique_ptr<const GroupPage>> group_page(const Context& context,
                                                    const Request& request) {
  SONDE_TRY(const wanted, groups_request(request_text(request)));
  const auto snapshot = context.store.snapshot();
  auto found = std::make_unique<GroupPage>();  // on the heap: groups point into it
  SONDE_TRY(records, hp::collect(*snapshot));
  found->records = std::move(records);
  found->experiment = hp::experiment(found->records, *snapshot, wanted.query.metrics, 0);
  SONDE_TRY(groups, hp::groups(found->records, found->experiment, *snapshot, wanted.query));
  found->groups = std::move(groups);
  std::tie(found->begin, found->end) = page_of(wanted.start, wanted.size, found->groups.size());
  return found;
}

Answer session_groups(const Context& context, const Request& request) {
  const auto found = group_page(context, request);
  if (!found) return failed(found.error());
  return Answer::json(groups_json((*found)->page(), (*found)->groups.size()));
}

Answer metric_evals(const Context& context, const Request& request) {
  const auto wanted = evals_request(request_text(request));
  if (!wanted) return failed(wanted.error());
  return scalar_series(context, hp::metric_run(wanted->session, wanted->metric.group),
                       wanted->metric.tag, "json");
}

using Cell = std::optional<hp::Value>;  // nothing: the group has no such metric

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;
};

Table table_of(const hp::Experiment& experiment, std::span<const hp::Group> groups,
               const std::vector<bool>& visible) {
  Table table;
  const auto is_shown = [&](size_t column) { return column < visible.size() && visible[column]; };
  size_t column = 0;
  for (const hp::HparamInfo& info : experiment.hparams) {
    if (is_shown(column++))
      table.header.push_back(info.display_name.empty() ? info.name : info.display_name);
  }
  for (const hp::MetricInfo& info : experiment.metrics) {
    if (is_shown(column++))
      table.header.push_back(info.display_name.empty() ? info.name.tag : info.display_name);
  }
  for (const hp::Group& group : groups) {
    std::vector<Cell>& row = table.rows.emplace_back();
    column = 0;
    for (const hp::HparamInfo& info : experiment.hparams) {
      if (!is_shown(column++)) continue;
      const auto found = group.hparams.find(info.name);
      const bool is_missing = found == group.hparams.end() || found->second.is_missing();
      row.push_back(is_missing ? hp::Value{hp::Value::Kind::kString, 0, {}, false} : found->second);
    }
    for (const hp::MetricInfo& info : experiment.metrics) {
      if (!is_shown(column++)) continue;
      const auto found =
          std::find_if(group.metrics.begin(), group.metrics.end(),
                       [&](const hp::MetricValue& metric) { return metric.name == info.name; });
      row.push_back(found == group.metrics.end()
                        ? Cell()
                        : Cell(hp::Value{hp::Value::Kind::kNumber, found->value, {}, false}));
    }
  }
  return table;
}

std::string json_of(const Table& table) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("header").array([&] {
      for (const std::string& name : table.header) json.string(name);
    });
    json.key("rows").array([&] {
      for (const auto& row : table.rows) {
        json.array([&] {
          for (const Cell& cell : row) {
            if (cell) {
              write_value(json, *cell);
            } else {
              json.null();
            }
          }
        });
      }
    });
  });
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

std::string csv_of(const Table& table) {
  std::string out;
  const auto end_row = [&] {
    if (out.ends_with(',')) out.pop_back();
    out += "\r\n";
  };
  for (const std::string& name : table.header) out += csv_field(name) + ",";
  end_row();
  for (const auto& row : table.rows) {
    std::string line;
    for (const Cell& cell : row) {
      if (cell && cell->kind == hp::Value::Kind::kString) line += csv_field(cell->text);
      if (cell && cell->kind == hp::Value::Kind::kBool) line += cell->boolean ? "True" : "False";
      if (cell && cell->kind == hp::Value::Kind::kNumber) line += python_float(cell->number);
      line.push_back(',');
    }
    if (!line.empty()) line.pop_back();
    out += line + "\r\n";
  }
  return out;
}

std::string latex_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '_' || c == '%') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string latex_number(double value) {
  if (std::isnan(value)) return "$\\mathrm{NaN}$";
  if (std::isinf(value)) return value < 0 ? "$-\\infty$" : "$+\\infty$";
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", value);
  const std::string_view number = text;
  const size_t e = number.find('e');
  if (e == std::string_view::npos) return "$" + std::string(number) + "$";
  return "$" + std::string(number.substr(0, e)) + "\\cdot 10^{" +
         std::to_string(integer_of(number.substr(e + 1)).value_or(0)) + "}$";
}

std::string latex_cell(const Cell& cell) {
  if (!cell) return "-";
  if (cell->kind == hp::Value::Kind::kBool) return cell->boolean ? "$1$" : "$0$";
  if (cell->kind == hp::Value::Kind::kNumber) return latex_number(cell->number);
  return latex_text(cell->text);
}

std::string latex_of(const Table& table) {
  std::string out =
      "\\begin{table}[tbp]\n\\begin{tabular}{" + std::string(table.header.size(), 'l') + "}\n";
  for (size_t i = 0; i < table.header.size(); ++i) {
    out += (i > 0 ? " & " : "") + latex_text(table.header[i]);
  }
  out += " \\\\ \\hline\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) out += (i > 0 ? " & " : "") + latex_cell(row[i]);
    out += " \\\\\n";
  }
  return out + "\\hline\n\\end{tabular}\n\\end{table}\n";
}

Answer download(const Context& context, const Request& request) {
  const auto visibility = read_json(request.param("columnsVisibility").value_or(""));
  if (!visibility || !visibility->is_array()) {
    return bad_request("columnsVisibility must be a JSON list of true and false");
  }
  std::vector<bool> visible;
  for (const JsonValue& item : visibility->items) visible.push_back(item.is_bool() && item.boolean);
  const auto found = group_page(context, request);
  if (!found) return failed(found.error());
  const Table table = table_of((*found)->experiment, (*found)->page(), visible);
  const std::string_view format = request.param("format").value_or("");
  if (format == "json") return Answer::json(json_of(table));
  if (format == "csv") return csv(csv_of(table));
  if (format != "latex") return bad_request("Invalid reponses format: " + std::string(format));
  Answer answer;
  answer.content_type = "application/x-latex";
  answer.body = latex_of(table);
  return answer;
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/hparams/experiment", experiment},
    {"*", "/data/plugin/hparams/session_groups", session_groups},
    {"*", "/data/plugin/hparams/metric_evals", metric_evals},
    {"*", "/data/plugin/hparams/download_data", download},
};

}  // namespace

std::span<const Route> hparams_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
