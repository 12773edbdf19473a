#include "api/v1/table/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "api/services/state.h"
#include "api/v1/support.h"
#include "base/strings.h"

namespace sonde::api::v1 {
namespace {

using query::Cell;
using Kind = TableColumn::Kind;

constexpr size_t kMaxMetrics = 1000;

struct Name {
  std::string_view id;
  Kind kind;
};
constexpr Name kFixed[] = {
    {"name", Kind::kName},         {"start", Kind::kStart},       {"last", Kind::kLast},
    {"duration", Kind::kDuration}, {"state", Kind::kState},       {"points", Kind::kPoints},
    {"bytes", Kind::kBytes},       {"segments", Kind::kSegments}, {"damage", Kind::kDamage},
    {"slot", Kind::kSlot},         {"alias", Kind::kAlias},       {"note", Kind::kNote},
    {"tags", Kind::kTags},         {"hidden", Kind::kHidden},     {"colour", Kind::kColour},
    {"status", Kind::kStatus},     {"group", Kind::kGroup}};

// A metric of a run below the session, as columns name it: "validation.loss".
std::string tag_of(const query::hparams::MetricName& metric) {
  return metric.group.empty() ? metric.tag : fmt::format("{}.{}", metric.group, metric.tag);
}

Cell time_cell(double seconds) { return std::isnan(seconds) ? Cell{} : Cell::of(seconds); }

RowList list_rows(const store::Snapshot& snapshot, std::shared_ptr<const query::ParamIndex> params,
                  RowKind kind, const std::vector<std::string>& statuses) {
  RowList list{std::move(params), {}};
  if (kind == RowKind::kRuns) {
    for (size_t r = 0; r < snapshot.runs.size(); ++r) {
      const uint32_t session = list.params->session_of[r];
      list.rows.push_back({snapshot.runs[r]->name,
                           {{r}},
                           {},
                           session == UINT32_MAX ? nullptr : &list.params->sessions[session]});
    }
    return list;
  }
  std::vector<const query::ParamSession*> sessions;
  for (const auto& session : list.params->sessions) {
    const bool wanted = statuses.empty() || std::find(statuses.begin(), statuses.end(),
                                                      session.status) != statuses.end();
    if (wanted) sessions.push_back(&session);
  }
  std::stable_sort(sessions.begin(), sessions.end(), [](const auto* a, const auto* b) {
    return natural_compare(a->name, b->name) < 0;
  });
  std::map<std::string_view, size_t> row_of;  // by group name
  for (const auto* session : sessions) {
    if (kind == RowKind::kGroups) {
      const auto [at, is_new] = row_of.emplace(session->group, list.rows.size());
      if (!is_new) {
        list.rows[at->second].sessions.push_back(session->runs);
        list.rows[at->second].folders.push_back(session->name);
        continue;
      }
    }
    list.rows.push_back({kind == RowKind::kGroups ? session->group : session->name,
                         {session->runs},
                         {session->name},
                         session});
  }
  return list;
}

}  // namespace

std::shared_ptr<const query::ParamIndex> params_of(const Context& context,
                                                   const store::Snapshot& snapshot) {
  return context.services.memo().get<query::ParamIndex>(
      "v1/params", snapshot.revision,
      [&](const query::ParamIndex* earlier) { return query::index_params(snapshot, earlier); });
}

TableRows::TableRows(const Context& context, std::shared_ptr<const store::Snapshot> snapshot,
                     RowKind kind, const std::vector<std::string>& statuses)
    : snapshot_(std::move(snapshot)),
      params_(params_of(context, *snapshot_)),
      slots_(context.services.state().slots(*snapshot_)),
      source_(source_of(context)) {
  now_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (auto document = context.services.state().sidecar().read())
    sidecar_ = std::move(document->value);
  const auto make = [&](const RowList*) { return list_rows(*snapshot_, params_, kind, statuses); };
  if (!statuses.empty()) {
    list_ = std::make_shared<const RowList>(make(nullptr));
    return;
  }
  const std::string key = kind == RowKind::kRuns       ? "v1/rows/runs"
                          : kind == RowKind::kSessions ? "v1/rows/sessions"
                                                       : "v1/rows/groups";
  list_ = context.services.memo().get<RowList>(key, snapshot_->revision, make);
}

void TableRows::aggregate_by(Aggregate aggregate, std::optional<query::MetricSpec> chooser) {
  aggregate_ = aggregate;
  chooser_ = std::move(chooser);
}

Result<TableColumn> TableRows::column(std::string_view id) const {
  for (const Name& name : kFixed) {
    if (name.id == id) return TableColumn{std::string(id), name.kind, UINT32_MAX, {}};
  }
  if (id.starts_with("hparam:")) {
    return TableColumn{std::string(id), Kind::kParam, params_->find(id.substr(7)), {}};
  }
  if (id.starts_with("metric:")) {
    return TableColumn{std::string(id), Kind::kMetric, UINT32_MAX,
                       query::MetricSpec::parse(id.substr(7))};
  }
  return fail(Code::kInvalid, fmt::format("there is no column '{}'", id));
}

std::vector<TableColumn> TableRows::all_columns() const {
  std::vector<TableColumn> columns = {{"name", Kind::kName, UINT32_MAX, {}}};
  for (uint32_t i = 0; i < params_->names.size(); ++i)
    columns.push_back({"hparam:" + params_->names[i].name, Kind::kParam, i, {}});
  std::map<std::string_view, std::set<std::string_view>>
      paths;                          // tag -> runs below sessions that have it
  std::set<std::string_view> shared;  // tags that several runs of one session have
  for (const TableRow& row : list_->rows) {
    for (size_t s = 0; s < row.sessions.size(); ++s) {
      std::set<std::string_view> seen;
      for (const size_t run : row.sessions[s]) {
        const std::string_view path = path_below(row, s, run);
        for (const auto& series : snapshot_->runs[run]->series) {
          if (!series->is_scalar() ||
              (paths.size() >= kMaxMetrics && !paths.contains(series->tag())))
            continue;
          paths[series->tag()].insert(path);
          if (row.sessions[s].size() > 1 && !seen.insert(series->tag()).second)
            shared.insert(series->tag());
        }
      }
    }
  }
  std::vector<std::string> tags;
  for (const auto& [tag, below] : paths) {
    if (!shared.contains(tag)) {
      tags.emplace_back(tag);
      continue;
    }
    for (const std::string_view path : below)
      tags.push_back(path.empty() ? std::string(tag) : fmt::format("{}.{}", path, tag));
  }
  if (params_->declared) {  // no run may have logged it yet
    for (const auto& metric : params_->declared->metrics) {
      if (metric.name.tag.empty()) continue;
      const std::string named = tag_of(metric.name);
      if (std::find(tags.begin(), tags.end(), named) == tags.end() &&
          std::find(tags.begin(), tags.end(), metric.name.tag) == tags.end())
        tags.push_back(named);
    }
  }
  std::sort(tags.begin(), tags.end(),
            [](std::string_view a, std::string_view b) { return natural_compare(a, b) < 0; });
  for (const std::string& tag : tags) {
    columns.push_back({fmt::format("metric:{}:last", tag),
                       Kind::kMetric,
                       UINT32_MAX,
                       {tag, query::MetricSpec::What::kLast, {}}});
  }
  return columns;
}

std::map<std::string, Declared> TableRows::declared(const std::vector<TableColumn>& shown) const {
  std::map<std::string, Declared> found;
  if (!params_->declared) return found;
  std::set<std::string_view> ids;
  for (const TableColumn& column : shown) ids.insert(column.id);
  uint32_t place = 0;
  for (const auto& hparam : params_->declared->hparams)
    found.emplace("hparam:" + hparam.name,
                  Declared{hparam.display_name, hparam.description, place++});
  for (const auto& metric : params_->declared->metrics) {
    const std::string named = fmt::format("metric:{}:last", tag_of(metric.name));
    found.emplace(ids.contains(named) ? named : fmt::format("metric:{}:last", metric.name.tag),
                  Declared{metric.display_name, metric.description, place++});
  }
  return found;
}

std::string_view TableRows::path_below(const TableRow& row, size_t session, size_t run) const {
  if (row.folders.empty()) return {};
  std::string_view name = snapshot_->runs[run]->name;
  const std::string_view folder = row.folders[session];
  if (folder == "." || folder.empty()) return name == "." ? std::string_view() : name;
  if (!name.starts_with(folder)) return {};
  name.remove_prefix(folder.size());
  return name.starts_with('/') ? name.substr(1) : name;
}

// The first run of a session that has it: the session's own comes first, then those below. A tag
// that none has may name the run too: "validation.loss".
Cell TableRows::metric_of(const TableRow& row, size_t session,
                          const query::MetricSpec& spec) const {
  const std::vector<size_t>& runs = row.sessions[session];
  for (const size_t run : runs) {
    Cell cell = query::metric(*snapshot_->runs[run], spec, source_);
    if (!cell.is_missing()) return cell;
  }
  if (spec.tag.find('.') == std::string::npos) return {};
  for (const size_t run : runs) {
    const std::string_view path = path_below(row, session, run);
    if (path.empty() || !spec.tag.starts_with(path) || spec.tag.size() <= path.size() ||
        spec.tag[path.size()] != '.')
      continue;
    query::MetricSpec inner = spec;
    inner.tag.erase(0, path.size() + 1);
    Cell cell = query::metric(*snapshot_->runs[run], inner, source_);
    if (!cell.is_missing()) return cell;
  }
  return {};
}

Cell TableRows::group_metric(const TableRow& row, const query::MetricSpec& spec) const {
  if (row.sessions.size() == 1) return metric_of(row, 0, spec);
  // With a chooser one session stands for the group; else the values themselves are aggregated.
  std::vector<std::pair<double, size_t>> order;
  for (size_t s = 0; s < row.sessions.size(); ++s) {
    const Cell cell = metric_of(row, s, chooser_ ? *chooser_ : spec);
    if (!cell.is_missing()) order.emplace_back(cell.number, s);
  }
  if (order.empty()) return {};
  std::sort(order.begin(), order.end());
  if (aggregate_ == Aggregate::kMean) {
    double sum = 0;
    size_t count = 0;
    for (size_t s = 0; s < row.sessions.size(); ++s) {
      const Cell cell = metric_of(row, s, spec);
      if (cell.is_missing()) continue;
      sum += cell.number;
      ++count;
    }
    return count > 0 ? Cell::of(sum / static_cast<double>(count)) : Cell{};
  }
  const size_t at = aggregate_ == Aggregate::kMin   ? 0
                    : aggregate_ == Aggregate::kMax ? order.size() - 1
                                                    : (order.size() - 1) / 2;
  return metric_of(row, order[at].second, spec);
}

Cell TableRows::note_of(const TableRow& row, TableColumn::Kind kind) const {
  const JsonValue* runs = sidecar_.find("runs");
  const JsonValue* notes = runs ? runs->find(row.name) : nullptr;
  const char* name = kind == Kind::kAlias    ? "alias"
                     : kind == Kind::kNote   ? "note"
                     : kind == Kind::kTags   ? "tags"
                     : kind == Kind::kHidden ? "hidden"
                                             : "colour";
  const JsonValue* value = notes ? notes->find(name) : nullptr;
  if (!value) return {};
  if (!value->is_array()) return query::cell_from_json(*value);
  Cell cell;
  cell.kind = Cell::Kind::kList;
  for (const JsonValue& item : value->items) cell.list.push_back(item.text);
  return cell;
}

Cell TableRows::cell(size_t i, const TableColumn& column) const {
  const TableRow& row = list_->rows[i];
  const size_t main = row.sessions[0].empty() ? SIZE_MAX : row.sessions[0][0];
  if (main == SIZE_MAX) return column.kind == Kind::kName ? Cell::of(row.name) : Cell{};
  const store::RunSnapshot& run = *snapshot_->runs[main];
  switch (column.kind) {
    case Kind::kName:
      return Cell::of(row.name);
    case Kind::kStart:
      return time_cell(run.first_wall_time);
    case Kind::kLast:
      return time_cell(run.last_wall_time);
    case Kind::kDuration:
      return time_cell(run.last_wall_time - run.first_wall_time);
    case Kind::kState:
      return Cell::of(now_s_ - run.last_wall_time < 60 ? "live" : "idle");
    case Kind::kPoints:
      return Cell::of(static_cast<double>(run.points));
    case Kind::kBytes:
      return Cell::of(static_cast<double>(run.bytes));
    case Kind::kSegments:
      return Cell::of(static_cast<double>(run.segments));
    case Kind::kDamage:
      return Cell::of(static_cast<double>(run.damage.size()));
    case Kind::kSlot:
      return slots_[main] < 0 ? Cell{} : Cell::of(static_cast<double>(slots_[main]));
    case Kind::kAlias:
    case Kind::kNote:
    case Kind::kTags:
    case Kind::kHidden:
    case Kind::kColour:
      return note_of(row, column.kind);
    case Kind::kStatus:
      return row.params ? Cell::of(row.params->status) : Cell{};
    case Kind::kGroup:
      return row.params ? Cell::of(row.params->group) : Cell{};
    case Kind::kParam: {
      const Cell* value =
          row.params && column.param != UINT32_MAX ? row.params->find(column.param) : nullptr;
      return value ? *value : Cell{};
    }
    case Kind::kMetric:
      return group_metric(row, column.metric);
  }
  return {};
}

std::vector<uint32_t> TableRows::run_ids(size_t i) const {
  std::vector<uint32_t> ids;
  for (const auto& session : list_->rows[i].sessions) {
    for (const size_t run : session) ids.push_back(static_cast<uint32_t>(snapshot_->runs[run]->id));
  }
  return ids;
}

}  // namespace sonde::api::v1
