// POST hparams/table and hparams/importance: sessions and groups with their hyper-parameters from
// every source, and which of them matter for a metric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "api/v1/table/table_rows.h"
#include "log/query/hparams/importance.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxColumns = 200;

struct Asked {
  RowKind kind = RowKind::kGroups;
  std::vector<std::string> statuses;
  Aggregate aggregate = Aggregate::kMean;
  std::optional<query::MetricSpec> chooser;
};

Result<Asked> asked_in(const JsonValue& body) {
  Asked asked;
  SONDE_TRY(const rows, text_in(body, "rows", "groups"));
  if (rows != "groups" && rows != "sessions")
    return fail(Code::kInvalid, fmt::format("'rows' is '{}', not groups or sessions", rows));
  if (rows == "sessions") asked.kind = RowKind::kSessions;
  if (const JsonValue* list = body.find("status")) {
    if (!list->is_array()) return fail(Code::kInvalid, "'status' is not a list");
    for (const JsonValue& item : list->items) asked.statuses.push_back(item.text);
  }
  SONDE_TRY(const aggregate, text_in(body, "aggregate", "avg"));
  if (aggregate == "median") {
    asked.aggregate = Aggregate::kMedian;
  } else if (aggregate == "min") {
    asked.aggregate = Aggregate::kMin;
  } else if (aggregate == "max") {
    asked.aggregate = Aggregate::kMax;
  } else if (aggregate != "avg") {
    return fail(Code::kInvalid,
                fmt::format("'aggregate' is '{}', not avg, median, min or max", aggregate));
  }
  SONDE_TRY(const metric, text_in(body, "aggregate_metric"));
  if (!metric.empty()) asked.chooser = query::MetricSpec::parse(metric);
  return asked;
}

Answer table(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const asked, asked_in(body));
  TableRows rows(context, context.store.snapshot(), asked.kind, asked.statuses);
  rows.aggregate_by(asked.aggregate, asked.chooser);
  return table_answer(context, rows, body, true);
}

bool varies(const std::vector<query::Cell>& cells) {
  const auto first = std::find_if(cells.begin(), cells.end(),
                                  [](const query::Cell& cell) { return !cell.is_missing(); });
  return std::any_of(first, cells.end(), [&](const query::Cell& cell) {
    return !cell.is_missing() && !(cell == *first);
  });
}

// The rows that count: those that pass 'filter' (as in the table) and, when 'runs' is given, whose
// main run is in that list of ids. Offset, limit and sort of a table do not matter here.
Result<std::vector<size_t>> kept_rows(const Context& context, const TableRows& rows,
                                      const JsonValue& body) {
  std::vector<TableColumn> extra;
  SONDE_TRY(query, table_query(body, rows, extra));
  query.offset = 0;
  query.limit = rows.size();
  query.sort.clear();
  auto kept = query::select(
                  query, [&](size_t row, size_t column) { return rows.cell(row, extra[column]); },
                  context.pool)
                  .rows;
  const JsonValue* runs = body.find("runs");
  if (!runs) return kept;
  if (!runs->is_array()) return fail(Code::kInvalid, "'runs' is not a list of run ids");
  std::unordered_set<uint32_t> wanted;
  for (const JsonValue& id : runs->items) {
    const auto number = id.number();
    if (!number || *number < 0 || *number > UINT32_MAX)
      return fail(Code::kInvalid, "'runs' is not a list of run ids");
    wanted.insert(static_cast<uint32_t>(*number));
  }
  std::erase_if(kept, [&](size_t row) {
    const auto ids = rows.run_ids(row);
    return ids.empty() || !wanted.contains(ids[0]);
  });
  return kept;
}

Answer importance(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const asked, asked_in(body));
  SONDE_ANSWER(const metric, text_in(body, "metric"));
  if (metric.empty()) return error({Code::kInvalid, "'metric' is missing"}, "metric");
  SONDE_ANSWER(const method, text_in(body, "method", "permutation"));
  if (method != "permutation" && method != "spearman")
    return error(
        {Code::kInvalid, fmt::format("'method' is '{}', not permutation or spearman", method)},
        "method");
  TableRows rows(context, context.store.snapshot(), asked.kind, asked.statuses);
  rows.aggregate_by(asked.aggregate, asked.chooser);
  SONDE_ANSWER(const target, rows.column("metric:" + metric));
  SONDE_ANSWER(const kept, kept_rows(context, rows, body));
  std::vector<double> y(kept.size(), NAN);
  context.pool.for_each(kept.size(), [&](size_t i) {
    const query::Cell cell = rows.cell(kept[i], target);
    if (!cell.is_missing()) y[i] = cell.number;
  });
  std::vector<TableColumn> columns;
  std::vector<std::vector<query::Cell>> cells;
  for (const TableColumn& column : rows.all_columns()) {
    if (column.kind != TableColumn::Kind::kParam || columns.size() >= kMaxColumns) continue;
    if (rows.params().names[column.param].distinct < 2) continue;
    std::vector<query::Cell> values;
    for (const size_t row : kept) values.push_back(rows.cell(row, column));
    if (!varies(values)) continue;  // among the rows that count
    columns.push_back(column);
    cells.push_back(std::move(values));
  }
  std::vector<query::Importance> found(columns.size());
  if (method == "permutation") {
    found = query::permutation(cells, y);
  } else {
    context.pool.for_each(columns.size(),
                          [&](size_t c) { found[c] = query::spearman(cells[c], y); });
  }
  std::vector<size_t> order(columns.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto size = [&](size_t i) {
    return std::isnan(found[i].value) ? -1.0 : std::abs(found[i].value);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return size(a) > size(b); });
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    json.key("metric").string(metric);
    json.key("method").string(method);
    json.key("n").number(static_cast<uint64_t>(
        std::count_if(y.begin(), y.end(), [](double value) { return std::isfinite(value); })));
    json.key("columns").array([&] {
      for (const size_t i : order) {
        json.object([&] {
          json.key("col").string(columns[i].id);
          json.key("value").number(found[i].value);
          json.key("lo").number(found[i].lo);
          json.key("hi").number(found[i].hi);
          json.key("n").number(static_cast<uint64_t>(found[i].n));
        });
      }
    });
  });
  return json_answer(context, rows.snapshot().revision, std::move(text));
}

constexpr Route kRoutes[] = {{"POST", "/api/v1/hparams/table", table},
                             {"POST", "/api/v1/hparams/importance", importance}};

}  // namespace

std::span<const Route> hparam_routes() { return kRoutes; }

}  // namespace sonde::api::v1
