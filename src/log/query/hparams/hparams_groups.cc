// Session groups: joining sessions, aggregating their metrics, filtering, sorting.
#include <algorithm>
#include <cmath>

#include "base/regex.h"
#include "log/query/hparams/hparams.h"
#include "log/query/media/samples.h"

namespace sonde::query::hparams {
namespace {

const MetricValue* find_metric(const std::vector<MetricValue>& metrics, const MetricName& name) {
  for (const MetricValue& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::vector<MetricValue> last_values(const Session& session, const Experiment& experiment,
                                     const store::Snapshot& snapshot) {
  std::vector<MetricValue> values;
  for (const MetricInfo& metric : experiment.metrics) {
    const store::RunSnapshot* run = snapshot.find(metric_run(session.run, metric.name.group));
    const store::Series* series = run ? run->find(metric.name.tag) : nullptr;
    ScalarPoint point;
    if (!series || !series->is_scalar() || series->metadata().plugin != "scalars" ||
        !last_scalar(*series, point)) {
      continue;
    }
    values.push_back({metric.name, point.value, static_cast<int32_t>(point.step), point.wall_time});
  }
  return values;
}

void average(Group& group) {
  struct Sum {
    MetricName name;
    double value = 0, wall_time = 0;
    int64_t step = 0, count = 0;
  };
  std::vector<Sum> sums;
  for (const SessionResult& session : group.sessions) {
    for (const MetricValue& metric : session.metrics) {
      auto sum = std::find_if(sums.begin(), sums.end(),
                              [&](const Sum& s) { return s.name == metric.name; });
      if (sum == sums.end()) sum = sums.insert(sums.end(), Sum{metric.name});
      sum->value += metric.value;
      sum->wall_time += metric.wall_time;
      sum->step += metric.step;
      ++sum->count;
    }
  }
  for (const Sum& sum : sums) {
    const auto count = static_cast<double>(sum.count);
    const auto step = static_cast<int32_t>(std::floor(static_cast<double>(sum.step) / count));
    group.metrics.push_back({sum.name, sum.value / count, step, sum.wall_time / count});
  }
}

// The metrics of the session that is median, smallest or largest by one metric. A group without
// that metric shows none (TensorBoard fails the whole request).
void choose(Group& group, const GroupQuery& query) {
  std::vector<std::pair<double, const SessionResult*>> candidates;
  for (const SessionResult& session : group.sessions) {
    if (const MetricValue* metric = find_metric(session.metrics, query.aggregation_metric)) {
      candidates.emplace_back(metric->value, &session);
    }
  }
  if (candidates.empty()) return;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t index = 0;
  if (query.aggregation == Aggregation::kMedian) index = (candidates.size() - 1) / 2;
  if (query.aggregation == Aggregation::kMax) {
    index = candidates.size() - 1;
    while (index > 0 && candidates[index - 1].first == candidates[index].first)
      --index;  // the first
  }
  group.metrics = candidates[index].second->metrics;
}

// The value of a column; nothing when the group lacks it.
std::optional<Value> value_in(const Group& group, const Column& column) {
  if (column.metric) {
    const MetricValue* metric = find_metric(group.metrics, *column.metric);
    if (!metric) return std::nullopt;
    return Value{Value::Kind::kNumber, metric->value, {}, false};
  }
  const auto found = group.hparams.find(*column.hparam);
  if (found == group.hparams.end() || found->second.is_missing()) return std::nullopt;
  return found->second;
}

std::string type_name(const Value& value) {
  return value.kind == Value::Kind::kString ? "<class 'str'>"
         : value.kind == Value::Kind::kBool ? "<class 'bool'>"
                                            : "<class 'float'>";
}

std::string text_of(const Value& value) {
  if (value.kind == Value::Kind::kString) return value.text;
  if (value.kind == Value::Kind::kBool) return value.boolean ? "True" : "False";
  return number_text(value.number);
}

double as_number(const Value& value) {
  return value.kind == Value::Kind::kBool ? (value.boolean ? 1.0 : 0.0) : value.number;
}

bool is_equal(const Value& a, const Value& b) {
  const bool has_text = a.kind == Value::Kind::kString || b.kind == Value::Kind::kString;
  if (has_text) return a.kind == b.kind && a.text == b.text;
  return !a.is_missing() && !b.is_missing() && as_number(a) == as_number(b);
}

struct Filter {
  const Column* column;
  std::optional<Regex> regex;
};

Result<bool> passes(const Group& group, const Filter& filter) {
  const Column& column = *filter.column;
  const auto value = value_in(group, column);
  if (!value) return !column.exclude_missing;
  if (filter.regex) {
    if (value->kind != Value::Kind::kString) {
      return fail(Code::kInvalid, "Cannot use a regexp filter for a value of type " +
                                      type_name(*value) + ". Value: " + text_of(*value));
    }
    return filter.regex->found_in(value->text);
  }
  if (column.interval) {
    if (value->kind == Value::Kind::kString) {
      return fail(Code::kInvalid, "Cannot use an interval filter for a value of type: " +
                                      type_name(*value) + ", Value: " + text_of(*value));
    }
    const double number = as_number(*value);
    return column.interval->first <= number && number <= column.interval->second;
  }
  if (column.discrete) {
    return std::any_of(column.discrete->begin(), column.discrete->end(),
                       [&](const Value& allowed) { return is_equal(allowed, *value); });
  }
  return true;
}

Result<std::vector<Filter>> filters_of(const GroupQuery& query) {
  std::vector<Filter> filters;
  for (const Column& column : query.columns) {
    Filter filter{&column, std::nullopt};
    if (column.pattern) {
      SONDE_TRY(regex, Regex::compile(*column.pattern));
      filter.regex = std::move(regex);
    }
    if (column.pattern || column.interval || column.discrete || column.exclude_missing) {
      filters.push_back(std::move(filter));
    }
  }
  return filters;
}

bool is_nan(const Value& value) {
  return value.kind == Value::Kind::kNumber && std::isnan(value.number);
}

// Numbers and bools before strings.
bool value_less(const Value& a, const Value& b) {
  const bool a_text = a.kind == Value::Kind::kString, b_text = b.kind == Value::Kind::kString;
  if (a_text != b_text) return b_text;
  if (a_text) return a.text < b.text;
  return as_number(a) < as_number(b);
}

void sort_by(std::vector<Group>& groups, const Column& column) {
  if (column.order == Order::kUnspecified) return;
  const bool is_descending = column.order == Order::kDescending;
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    const auto x = value_in(a, column), y = value_in(b, column);
    if (!x || !y) {
      if (!x && !y) return false;
      return column.missing_first ? !x : !y;
    }
    if (is_nan(*x) || is_nan(*y)) return !is_nan(*x) && is_nan(*y);  // last in both directions
    return is_descending ? value_less(*y, *x) : value_less(*x, *y);
  });
}

// Once a column says whether to include it, groups show only columns not set to false.
void reduce(std::vector<Group>& groups, const std::vector<Column>& columns) {
  const bool is_stated = std::any_of(columns.begin(), columns.end(),
                                     [](const Column& c) { return c.include.has_value(); });
  if (!is_stated) return;
  for (Group& group : groups) {
    std::map<std::string, Value> kept;
    for (const Column& column : columns) {
      if (!column.hparam || !column.include.value_or(true)) continue;
      const auto found = group.hparams.find(*column.hparam);
      if (found != group.hparams.end()) kept.insert(*found);
    }
    group.hparams = std::move(kept);
  }
}

std::vector<Group> joined(const Records& records, const Experiment& experiment,
                          const store::Snapshot& snapshot, const GroupQuery& query) {
  std::vector<Group> groups;
  std::map<std::string, size_t> by_name;
  for (const Session& session : records.sessions) {  // in the order of names
    const bool is_allowed = std::find(query.statuses.begin(), query.statuses.end(),
                                      session.status) != query.statuses.end();
    if (!is_allowed) continue;
    const auto [place, is_new] = by_name.try_emplace(session.group, groups.size());
    if (is_new) {
      Group group;
      group.name = session.group;
      group.monitor_url = session.monitor_url;
      for (const auto& [name, value] : session.hparams) {
        if (value.kind != Value::Kind::kNumber || std::isfinite(value.number))
          group.hparams[name] = value;
      }
      groups.push_back(std::move(group));
    }
    SessionResult result{&session, {}};
    if (query.metrics == Metrics::kWith)
      result.metrics = last_values(session, experiment, snapshot);
    groups[place->second].sessions.push_back(std::move(result));
  }
  return groups;
}

}  // namespace

Result<std::vector<Group>> groups(const Records& records, const Experiment& experiment,
                                  const store::Snapshot& snapshot, const GroupQuery& query) {
  SONDE_TRY(const filters, filters_of(query));
  std::vector<Group> all = joined(records, experiment, snapshot, query);
  std::vector<Group> kept;
  for (Group& group : all) {
    if (query.aggregation == Aggregation::kUnset || query.aggregation == Aggregation::kAverage) {
      average(group);
    } else {
      choose(group, query);
    }
    bool passes_all = true;
    for (const Filter& filter : filters) {
      SONDE_TRY(const passed, passes(group, filter));
      passes_all = passed;
      if (!passes_all) break;
    }
    if (passes_all) kept.push_back(std::move(group));
  }
  std::sort(kept.begin(), kept.end(),
            [](const Group& a, const Group& b) { return a.name < b.name; });
  for (size_t i = query.columns.size(); i-- > 0;) sort_by(kept, query.columns[i]);
  reduce(kept, query.columns);
  return kept;
}

}  // namespace sonde::query::hparams
