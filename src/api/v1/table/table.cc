// POST table: the run table, filtered, sorted and paged on the server.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "api/v1/table/table_rows.h"

namespace sonde::api::v1 {
namespace {

using query::Cell;
using Kind = TableColumn::Kind;

Result<query::Filter> filter_in(const JsonValue& item) {
  query::Filter filter;
  if (const JsonValue* list = item.find("in")) {
    if (!list->is_array()) return fail(Code::kInvalid, "'in' of a filter is not a list");
    filter.in.emplace();
    for (const JsonValue& value : list->items) filter.in->push_back(query::cell_from_json(value));
  }
  for (auto [name, limit] : {std::pair{"min", &filter.min}, {"max", &filter.max}}) {
    if (const JsonValue* value = item.find(name)) {
      if (!value->number())
        return fail(Code::kInvalid, fmt::format("'{}' of a filter is not a number", name));
      *limit = value->number();
    }
  }
  if (const JsonValue* pattern = item.find("re")) {
    if (!pattern->is_string()) return fail(Code::kInvalid, "'re' of a filter is not a string");
    SONDE_TRY(regex, Regex::compile(pattern->text));
    filter.pattern = std::move(regex);
  }
  if (const JsonValue* missing = item.find("missing")) {
    if (!missing->is_bool()) return fail(Code::kInvalid, "'missing' of a filter is not a bool");
    filter.missing = missing->boolean;
  }
  const JsonValue* or_missing = item.find("or_missing");
  filter.or_missing = or_missing && or_missing->boolean;
  return filter;
}

void write_domain(JsonWriter& json, const query::ParamName& name) {
  json.key("differs").boolean(name.differs);
  json.key("source").string(query::name_of(name.source));
  const bool numeric = !name.values.empty() &&
                       std::all_of(name.values.begin(), name.values.end(), [](const Cell& cell) {
                         return cell.kind == Cell::Kind::kNumber;
                       });
  json.key("domain").object([&] {
    if (numeric && name.distinct > 10) {
      json.key("min");
      query::write(json, name.values.front());
      json.key("max");
      query::write(json, name.values.back());
      return;
    }
    json.key("values").array([&] {
      for (const Cell& value : name.values) query::write(json, value);
    });
    if (name.distinct > name.values.size())
      json.key("distinct").number(static_cast<uint64_t>(name.distinct));
  });
}

Answer table(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  const TableRows rows(context, context.store.snapshot(), RowKind::kRuns, {});
  return table_answer(context, rows, body, false);
}

constexpr Route kRoutes[] = {{"POST", "/api/v1/table", table}};

}  // namespace

std::string_view type_of(const TableColumn& column, const std::vector<Cell>& cells) {
  switch (column.kind) {
    case Kind::kStart:
    case Kind::kLast:
      return "time";
    case Kind::kPoints:
    case Kind::kBytes:
    case Kind::kSegments:
    case Kind::kDamage:
    case Kind::kSlot:
      return "integer";
    case Kind::kDuration:
    case Kind::kMetric:
      return "number";
    case Kind::kTags:
      return "list";
    case Kind::kHidden:
      return "bool";
    case Kind::kParam:
      break;
    default:
      return "string";
  }
  bool any = false, whole = true, number = true, boolean = true;
  for (const Cell& cell : cells) {
    if (cell.is_missing()) continue;
    any = true;
    number &= cell.kind == Cell::Kind::kNumber;
    boolean &= cell.kind == Cell::Kind::kBool;
    whole &= cell.kind == Cell::Kind::kNumber && cell.number == std::floor(cell.number);
  }
  if (!any) return "string";
  return boolean ? "bool" : whole ? "integer" : number ? "number" : "string";
}

Result<query::TableQuery> table_query(const JsonValue& body, const TableRows& rows,
                                      std::vector<TableColumn>& extra) {
  query::TableQuery query;
  query.rows = rows.size();
  SONDE_TRY(const offset, integer_in(body, "offset", 0));
  SONDE_TRY(const limit, integer_in(body, "limit", 1000));
  if (offset < 0 || limit < 0) return fail(Code::kInvalid, "'offset' or 'limit' is negative");
  query.offset = static_cast<size_t>(offset);
  query.limit = static_cast<size_t>(limit);
  if (const JsonValue* filters = body.find("filter")) {
    if (!filters->is_array()) return fail(Code::kInvalid, "'filter' is not a list");
    for (const JsonValue& item : filters->items) {
      SONDE_TRY(const id, text_in(item, "col"));
      SONDE_TRY(column, rows.column(id));
      SONDE_TRY(filter, filter_in(item));
      filter.column = extra.size();
      extra.push_back(std::move(column));
      query.filters.push_back(std::move(filter));
    }
  }
  if (const JsonValue* sort = body.find("sort")) {
    if (!sort->is_array()) return fail(Code::kInvalid, "'sort' is not a list");
    for (const JsonValue& item : sort->items) {
      const bool pair = item.is_array() && item.items.size() == 2 && item.items[0].is_string() &&
                        (item.items[1].text == "asc" || item.items[1].text == "desc");
      if (!pair) return fail(Code::kInvalid, "a sort key is not [column, \"asc\" or \"desc\"]");
      SONDE_TRY(column, rows.column(item.items[0].text));
      query.sort.push_back({extra.size(), item.items[1].text == "desc"});
      extra.push_back(std::move(column));
    }
  }
  return query;
}

Answer table_answer(const Context& context, const TableRows& rows, const JsonValue& body,
                    bool describes_params) {
  std::vector<TableColumn> shown;
  if (const JsonValue* list = body.find("columns")) {
    if (!list->is_array()) return error({Code::kInvalid, "'columns' is not a list"});
    for (const JsonValue& item : list->items) {
      SONDE_ANSWER(column, rows.column(item.text));
      shown.push_back(std::move(column));
    }
  } else if (describes_params) {
    shown = rows.all_columns();
  } else {
    SONDE_ANSWER(column, rows.column("name"));
    shown.push_back(std::move(column));
  }
  std::vector<TableColumn> extra;
  SONDE_ANSWER(const query, table_query(body, rows, extra));
  const auto page = query::select(
      query, [&](size_t row, size_t column) { return rows.cell(row, extra[column]); },
      context.pool);
  std::vector<std::vector<Cell>> data(shown.size());
  context.pool.for_each(shown.size(), [&](size_t c) {
    data[c].reserve(page.rows.size());
    for (const size_t row : page.rows) data[c].push_back(rows.cell(row, shown[c]));
  });
  const auto declared = describes_params && !body.find("columns")
                            ? rows.declared(shown)
                            : std::map<std::string, Declared>{};
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    json.key("rev").number(rows.snapshot().revision);
    json.key("total").number(static_cast<uint64_t>(page.total));
    json.key("columns").array([&] {
      for (size_t c = 0; c < shown.size(); ++c) {
        json.object([&] {
          const TableColumn& column = shown[c];
          const bool known = column.kind == Kind::kParam && column.param != UINT32_MAX;
          json.key("id").string(column.id);
          json.key("type").string(
              type_of(column, known ? rows.params().names[column.param].values : data[c]));
          const bool seconds = column.kind == Kind::kStart || column.kind == Kind::kLast ||
                               column.kind == Kind::kDuration;
          if (seconds) json.key("unit").string("s");
          if (column.kind == Kind::kBytes) json.key("unit").string("B");
          if (known) {
            write_domain(json, rows.params().names[column.param]);
          } else if (describes_params) {
            json.key("source").string(column.kind == Kind::kMetric ? "metric" : "run");
          }
          if (const auto said = declared.find(column.id); said != declared.end()) {
            json.key("declared").number(said->second.place);
            json.key("title").string(said->second.display_name);
            json.key("description").string(said->second.description);
          }
        });
      }
    });
    json.key("data").array([&] {
      for (const auto& cells : data) {
        json.array([&] {
          for (const Cell& cell : cells) query::write(json, cell);
        });
      }
    });
    json.key("ids").array([&] {
      for (const size_t row : page.rows) {
        const auto ids = rows.run_ids(row);
        if (!describes_params) {
          json.number(ids.empty() ? 0u : ids[0]);
          continue;
        }
        json.array([&] {
          for (const uint32_t id : ids) json.number(id);
        });
      }
    });
  });
  return json_answer(context, rows.snapshot().revision, std::move(text));
}

std::span<const Route> table_routes() { return kRoutes; }

}  // namespace sonde::api::v1
