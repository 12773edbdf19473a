#include "log/query/hparams/hparams.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "codec/fields/hparams.h"
#include "codec/fields/map_entry.h"
#include "codec/wire.h"

namespace sonde::query::hparams {
namespace {

constexpr std::string_view kExperimentTag = "_hparams_/experiment";
constexpr std::string_view kStartTag = "_hparams_/session_start_info";
constexpr std::string_view kEndTag = "_hparams_/session_end_info";

using wire::Cursor;
using wire::Field;

Value value_of(Bytes message) {
  Value value;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case fields::StructValue::kNull:
        value = {};
        break;
      case fields::StructValue::kNumber:
        value = {Value::Kind::kNumber, field.as_double(), {}, false};
        break;
      case fields::StructValue::kText:
        value = {Value::Kind::kString, 0, std::string(field.text()), false};
        break;
      case fields::StructValue::kBool:
        value = {Value::Kind::kBool, 0, {}, field.as_bool()};
        break;
      case fields::StructValue::kStruct:
      case fields::StructValue::kList:
        value = {Value::Kind::kOther, 0, {}, false};
        break;
      default:
        break;
    }
  }
  return value;
}

MetricName metric_name(Bytes message) {
  MetricName name;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == fields::MetricName::kGroup && field.is_bytes()) name.group = field.text();
    if (field.number == fields::MetricName::kTag && field.is_bytes()) name.tag = field.text();
  }
  return name;
}

HparamInfo hparam_info(Bytes message) {
  HparamInfo info;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case fields::HparamInfo::kName:
        info.name = field.text();
        break;
      case fields::HparamInfo::kDisplayName:
        info.display_name = field.text();
        break;
      case fields::HparamInfo::kDescription:
        info.description = field.text();
        break;
      case fields::HparamInfo::kType:
        info.type = static_cast<int32_t>(field.bits);
        break;
      case fields::HparamInfo::kDiscrete: {
        info.interval.reset();
        info.discrete.emplace();
        Cursor list(field.bytes);
        for (Field item; list.next(item);) {
          if (item.number == fields::ListValue::kValues && item.is_bytes())
            info.discrete->push_back(value_of(item.bytes));
        }
        break;
      }
      case fields::HparamInfo::kInterval: {
        info.discrete.reset();
        info.interval.emplace(0, 0);
        Cursor interval(field.bytes);
        for (Field bound; interval.next(bound);) {
          if (bound.number == fields::Interval::kMin) info.interval->first = bound.as_double();
          if (bound.number == fields::Interval::kMax) info.interval->second = bound.as_double();
        }
        break;
      }
      case fields::HparamInfo::kDiffers:
        info.differs = field.as_bool();
        break;
      default:
        break;
    }
  }
  return info;
}

MetricInfo metric_info(Bytes message) {
  MetricInfo info;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == fields::MetricInfo::kName && field.is_bytes())
      info.name = metric_name(field.bytes);
    if (field.number == fields::MetricInfo::kDisplayName && field.is_bytes())
      info.display_name = field.text();
    if (field.number == fields::MetricInfo::kDescription && field.is_bytes())
      info.description = field.text();
    if (field.number == fields::MetricInfo::kDatasetType && !field.is_bytes())
      info.dataset_type = static_cast<int32_t>(field.bits);
  }
  return info;
}

Experiment experiment_of(Bytes message) {
  Experiment result;
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case fields::HparamsExperiment::kDescription:
        result.description = field.text();
        break;
      case fields::HparamsExperiment::kUser:
        result.user = field.text();
        break;
      case fields::HparamsExperiment::kTimeCreated:
        result.time_created_s = field.as_double();
        break;
      case fields::HparamsExperiment::kHparamInfos:
        result.hparams.push_back(hparam_info(field.bytes));
        break;
      case fields::HparamsExperiment::kMetricInfos:
        result.metrics.push_back(metric_info(field.bytes));
        break;
      case fields::HparamsExperiment::kName:
        result.name = field.text();
        break;
      default:
        break;
    }
  }
  return result;
}

void read_start(Bytes message, Session& session) {
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == fields::SessionStart::kHparams && field.is_bytes()) {
      std::string name;
      Value value;
      Cursor entry(field.bytes);
      for (Field part; entry.next(part);) {
        if (part.number == fields::MapEntry::kKey && part.is_bytes()) name = part.text();
        if (part.number == fields::MapEntry::kValue && part.is_bytes())
          value = value_of(part.bytes);
      }
      session.hparams[name] = std::move(value);
    }
    if (field.number == fields::SessionStart::kModelUri && field.is_bytes())
      session.model_uri = field.text();
    if (field.number == fields::SessionStart::kMonitorUrl && field.is_bytes())
      session.monitor_url = field.text();
    if (field.number == fields::SessionStart::kGroupName && field.is_bytes())
      session.group = field.text();
    if (field.number == fields::SessionStart::kStartTime && !field.is_bytes())
      session.start_time_s = field.as_double();
  }
}

void read_end(Bytes message, Session& session) {
  Cursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == fields::SessionEnd::kStatus && !field.is_bytes())
      session.status = static_cast<int32_t>(field.bits);
    if (field.number == fields::SessionEnd::kEndTime && !field.is_bytes())
      session.end_time_s = field.as_double();
  }
}

// The member `number` of a HParamsPluginData.
Result<Bytes> payload(const store::Series& series, uint32_t number, std::string_view what) {
  int64_t version = 0;
  std::optional<Bytes> found;
  Cursor cursor(as_bytes(series.metadata().content));
  for (Field field; cursor.next(field);) {
    if (field.number == fields::HparamsData::kVersion && !field.is_bytes())
      version = field.as_int();
    if (field.number >= fields::HparamsData::kExperiment &&
        field.number <= fields::HparamsData::kSessionEnd && field.is_bytes()) {
      found.reset();  // the last member set is the one that counts
      if (field.number == number) found = field.bytes;
    }
  }
  if (version != 0) {
    return fail(Code::kInvalid,
                "Only supports plugin_data version: 0; found: " + std::to_string(version));
  }
  if (!found || !cursor.ok()) {
    return fail(Code::kInvalid, "Expected plugin_data." + std::string(what) + " to be set");
  }
  return *found;
}

const store::Series* record(const store::RunSnapshot& run, std::string_view tag) {
  const store::Series* series = run.find(tag);
  return series && series->metadata().plugin == "hparams" ? series : nullptr;
}

// Numbers first, NaN after them.
bool number_less(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a < b;
}

Type type_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNumber:
      return Type::kFloat64;
    case Value::Kind::kString:
      return Type::kString;
    case Value::Kind::kBool:
      return Type::kBool;
    default:
      return Type::kUnset;
  }
}

std::vector<Value> text_domain(const std::vector<Value>& values) {
  std::set<std::string> texts;
  for (const Value& value : values) {
    if (value.kind == Value::Kind::kString) texts.insert(value.text);
    if (value.kind == Value::Kind::kBool) texts.insert(value.boolean ? "true" : "false");
    if (value.kind == Value::Kind::kNumber && std::isfinite(value.number))
      texts.insert(number_text(value.number));
  }
  std::vector<Value> domain;
  for (const std::string& text : texts) domain.push_back({Value::Kind::kString, 0, text, false});
  return domain;
}

// What the values of one hyperparameter have in common; nothing when none is usable.
std::optional<HparamInfo> inferred(const std::string& name, const std::vector<Value>& values) {
  Type type = Type::kUnset;
  for (const Value& value : values) {
    const Type one = type_of(value);
    if (one == Type::kUnset) continue;
    type = type == Type::kUnset || type == one ? one : Type::kString;
    if (type == Type::kString) break;
  }
  if (type == Type::kUnset) return std::nullopt;
  HparamInfo info;
  info.name = name;
  info.type = static_cast<int32_t>(type);
  if (type == Type::kString) {
    info.discrete = text_domain(values);
    info.differs = info.discrete->size() > 1;
  } else if (type == Type::kBool) {
    std::set<bool> distinct;
    for (const Value& value : values) distinct.insert(value.boolean);
    info.discrete.emplace();
    for (const bool value : distinct) info.discrete->push_back({Value::Kind::kBool, 0, {}, value});
    info.differs = distinct.size() > 1;
  } else {
    std::vector<double> numbers;
    bool has_nan = false;
    for (const Value& value : values) {
      numbers.push_back(value.number);
      has_nan = has_nan || std::isnan(value.number);
    }
    std::sort(numbers.begin(), numbers.end(), number_less);
    info.differs = numbers.front() != numbers.back();
    info.interval.emplace(has_nan ? std::nan("") : numbers.front(), numbers.back());
  }
  return info;
}

// Metrics are the scalars of a session's run and of the runs below it.
std::vector<MetricInfo> inferred_metrics(const Records& records, const store::Snapshot& snapshot) {
  std::set<std::string, std::less<>> sessions;
  for (const Session& session : records.sessions) sessions.insert(session.run);
  std::set<std::pair<std::string, std::string>> names;  // (tag, group)
  for (const auto& run : snapshot.runs) {
    std::string_view parent = run->name;
    while (!parent.empty() && sessions.find(parent) == sessions.end()) {
      const size_t slash = parent.rfind('/');
      parent = slash == std::string_view::npos ? std::string_view{} : parent.substr(0, slash);
    }
    if (parent.empty()) continue;
    const std::string group =
        parent.size() == run->name.size() ? std::string() : run->name.substr(parent.size() + 1);
    for (const auto& series : run->series) {
      const store::Metadata& metadata = series->metadata();
      if (metadata.data_class == store::DataClass::kScalar && metadata.plugin == "scalars") {
        names.emplace(series->tag(), group);
      }
    }
  }
  std::vector<MetricInfo> metrics;
  for (const auto& [tag, group] : names) metrics.push_back({{group, tag}, {}, {}, 0});
  return metrics;
}

}  // namespace

Result<Records> collect(const store::Snapshot& snapshot) {
  std::vector<const store::RunSnapshot*> runs;
  for (const auto& run : snapshot.runs) runs.push_back(run.get());
  std::sort(runs.begin(), runs.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  Records records;
  for (const store::RunSnapshot* run : runs) {
    if (const store::Series* series = record(*run, kExperimentTag); series && !records.experiment) {
      SONDE_TRY(const message, payload(*series, 2, "experiment"));
      records.experiment = experiment_of(message);
    }
    const store::Series* start = record(*run, kStartTag);
    if (!start) continue;
    Session session;
    session.run = run->name;
    SONDE_TRY(const message, payload(*start, 3, "session_start_info"));
    read_start(message, session);
    if (session.group.empty()) session.group = run->name;
    if (const store::Series* end = record(*run, kEndTag)) {
      SONDE_TRY(const end_message, payload(*end, 4, "session_end_info"));
      read_end(end_message, session);
    }
    records.sessions.push_back(std::move(session));
  }
  return records;
}

Experiment experiment(const Records& records, const store::Snapshot& snapshot, Metrics metrics,
                      uint64_t limit) {
  Experiment result;
  if (records.experiment) {
    result = *records.experiment;
    if (metrics == Metrics::kWithout) result.metrics.clear();
  } else {
    std::map<std::string, std::vector<Value>> values;
    for (const Session& session : records.sessions) {
      for (const auto& [name, value] : session.hparams) values[name].push_back(value);
    }
    for (const auto& [name, all] : values) {
      if (auto info = inferred(name, all)) result.hparams.push_back(std::move(*info));
    }
    if (!result.hparams.empty() && metrics == Metrics::kWith) {
      result.metrics = inferred_metrics(records, snapshot);
    }
  }
  std::stable_sort(result.hparams.begin(), result.hparams.end(), [](const auto& a, const auto& b) {
    return a.differs != b.differs ? a.differs : a.name < b.name;
  });
  if (limit > 0 && result.hparams.size() > limit) result.hparams.resize(limit);
  return result;
}

std::string metric_run(std::string_view session, std::string_view group) {
  if (group.empty() || group == ".") return std::string(session);
  if (group.starts_with('/'))
    return std::string(group.ends_with('/') ? group.substr(0, group.size() - 1) : group);
  std::string run = std::string(session) + "/" + std::string(group);
  if (run.ends_with('/')) run.pop_back();
  return run;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[40];
  const bool is_small = value != 0 && (std::fabs(value) < 1e-4 || std::fabs(value) >= 1e16);
  const auto end =
      is_small ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr
               : std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  std::string out(text, end);
  if (!is_small && out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace sonde::query::hparams
