#include "api/tensorboard/hparams_json.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "codec/json_read.h"

namespace sonde::api::tensorboard {
namespace {

namespace hp = query::hparams;

// The members of a message by their camelCase names. A handler returns false for a value that does
// not fit.
using Handler = std::function<bool(const JsonValue&)>;
using Handlers = std::map<std::string, Handler, std::less<>>;

std::string camel_case(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_joint =
        name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    out.push_back(is_joint ? static_cast<char>(name[++i] - 32) : name[i]);
  }
  return out;
}

bool read_message(const JsonValue& value, const Handlers& handlers) {
  if (value.is_array() && value.items.empty()) return true;  // as protobuf's reader has it
  if (!value.is_object()) return false;
  for (const auto& [name, member] : value.members) {
    const auto found = handlers.find(camel_case(name));
    if (found == handlers.end()) return false;
    if (!member.is_null() && !found->second(member)) return false;
  }
  return true;
}

Handler into(std::string& out) {
  return [&out](const JsonValue& value) {
    out = value.text;
    return value.is_string();
  };
}
Handler into(std::optional<std::string>& out) {
  return [&out](const JsonValue& value) {
    out = value.text;
    return value.is_string();
  };
}
Handler into(bool& out) {
  return [&out](const JsonValue& value) {
    out = value.boolean;
    return value.is_bool();
  };
}
Handler into(std::optional<bool>& out) {
  return [&out](const JsonValue& value) {
    out = value.boolean;
    return value.is_bool();
  };
}
Handler into(int64_t& out) {
  return [&out](const JsonValue& value) {
    const auto number = value.integer();
    if (!number || *number < std::numeric_limits<int32_t>::min() ||
        *number > std::numeric_limits<int32_t>::max()) {
      return false;
    }
    out = *number;
    return true;
  };
}
Handler into(double& out) {
  return [&out](const JsonValue& value) {
    const auto number = value.number();
    if (!number) return false;
    out = *number;
    return true;
  };
}

// An enumerator by name or number.
template <class T>
Handler into(T& out, std::vector<std::string_view> names) {
  return [&out, names = std::move(names)](const JsonValue& value) {
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_it =
          value.is_string() ? value.text == names[i] : value.integer() == static_cast<int64_t>(i);
      if (is_it) {
        out = static_cast<T>(i);
        return true;
      }
    }
    return false;
  };
}

const std::vector<std::string_view> kStatuses = {"STATUS_UNKNOWN", "STATUS_SUCCESS",
                                                 "STATUS_FAILURE", "STATUS_RUNNING"};

bool read_metric(const JsonValue& value, hp::MetricName& name) {
  return read_message(value, {{"group", into(name.group)}, {"tag", into(name.tag)}});
}

hp::Value value_of(const JsonValue& json) {
  hp::Value value;
  if (json.is_string()) value = {hp::Value::Kind::kString, 0, json.text, false};
  if (json.is_bool()) value = {hp::Value::Kind::kBool, 0, {}, json.boolean};
  if (json.is_number()) value = {hp::Value::Kind::kNumber, json.number().value_or(0), {}, false};
  return value;
}

bool read_column(const JsonValue& json, hp::Column& column) {
  const Handlers handlers = {
      {"hparam",
       [&](const JsonValue& value) {
         column.metric.reset();
         return into(column.hparam)(value);
       }},
      {"metric",
       [&](const JsonValue& value) {
         column.hparam.reset();
         return read_metric(value, column.metric.emplace());
       }},
      {"order", into(column.order, {"ORDER_UNSPECIFIED", "ORDER_ASC", "ORDER_DESC"})},
      {"missingValuesFirst", into(column.missing_first)},
      {"excludeMissingValues", into(column.exclude_missing)},
      {"includeInResult", into(column.include)},
      {"filterRegexp", into(column.pattern)},
      {"filterInterval",
       [&](const JsonValue& value) {
         auto& interval = column.interval.emplace(0, 0);
         return read_message(
             value, {{"minValue", into(interval.first)}, {"maxValue", into(interval.second)}});
       }},
      {"filterDiscrete",
       [&](const JsonValue& value) {
         column.discrete.emplace();
         for (const JsonValue& item : value.items) column.discrete->push_back(value_of(item));
         return value.is_array();
       }},
  };
  return read_message(json, handlers);
}

template <class T>
Result<T> wrong(std::string_view type, std::string_view body) {
  return fail(Code::kInvalid,
              "Expected a JSON-formatted request data of type: " + std::string(type) +
                  ", but got " + std::string(body.substr(0, 200)));
}

const std::vector<std::string_view> kTypes = {"DATA_TYPE_UNSET", "DATA_TYPE_STRING",
                                              "DATA_TYPE_BOOL", "DATA_TYPE_FLOAT64"};
const std::vector<std::string_view> kDatasets = {"DATASET_UNKNOWN", "DATASET_TRAINING",
                                                 "DATASET_VALIDATION"};

void write_enum(JsonWriter& json, int32_t number, const std::vector<std::string_view>& names) {
  if (number >= 0 && static_cast<size_t>(number) < names.size()) {
    json.string(names[static_cast<size_t>(number)]);
  } else {
    json.number(number);
  }
}

void write(JsonWriter& json, const hp::MetricName& name) {
  json.object([&] {
    json.key("group").string(name.group);
    json.key("tag").string(name.tag);
  });
}

void write(JsonWriter& json, const std::vector<hp::MetricValue>& metrics) {
  json.array([&] {
    for (const hp::MetricValue& metric : metrics) {
      json.object([&] {
        json.key("name");
        write(json, metric.name);
        json.key("value").number(metric.value);
        json.key("trainingStep").number(metric.step);
        json.key("wallTimeSecs").number(metric.wall_time);
      });
    }
  });
}

void write(JsonWriter& json, const hp::HparamInfo& info) {
  json.object([&] {
    json.key("name").string(info.name);
    json.key("displayName").string(info.display_name);
    json.key("description").string(info.description);
    json.key("type");
    write_enum(json, info.type, kTypes);
    if (info.discrete) {
      json.key("domainDiscrete").array([&] {
        for (const hp::Value& value : *info.discrete) write_value(json, value);
      });
    }
    if (info.interval) {
      json.key("domainInterval").object([&] {
        json.key("minValue").number(info.interval->first);
        json.key("maxValue").number(info.interval->second);
      });
    }
    json.key("differs").boolean(info.differs);
  });
}

void write(JsonWriter& json, const hp::SessionResult& result) {
  const hp::Session& session = *result.session;
  json.object([&] {
    json.key("name").string(session.run);
    json.key("startTimeSecs").number(session.start_time_s);
    json.key("endTimeSecs").number(session.end_time_s);
    json.key("status");
    write_enum(json, session.status, kStatuses);
    json.key("modelUri").string(session.model_uri);
    json.key("metricValues");
    write(json, result.metrics);
    json.key("monitorUrl").string(session.monitor_url);
  });
}

}  // namespace

void write_value(JsonWriter& json, const hp::Value& value) {
  switch (value.kind) {
    case hp::Value::Kind::kNumber:
      json.number(value.number);
      break;
    case hp::Value::Kind::kString:
      json.string(value.text);
      break;
    case hp::Value::Kind::kBool:
      json.boolean(value.boolean);
      break;
    default:
      json.null();
  }
}

Result<ExperimentRequest> experiment_request(std::string_view text) {
  ExperimentRequest request;
  std::string ignored;
  bool with_metrics = true;
  int64_t limit = 0;
  const auto json = read_json(text);
  if (!json || !read_message(*json, {{"experimentName", into(ignored)},
                                     {"includeMetrics", into(with_metrics)},
                                     {"hparamsLimit", into(limit)}})) {
    return wrong<ExperimentRequest>("GetExperimentRequest", text);
  }
  request.metrics = with_metrics ? hp::Metrics::kWith : hp::Metrics::kWithout;
  request.limit = limit > 0 ? static_cast<uint64_t>(limit) : 0;
  return request;
}

Result<GroupsRequest> groups_request(std::string_view text) {
  GroupsRequest request;
  std::string ignored;
  bool with_metrics = true;
  const Handlers handlers = {
      {"experimentName", into(ignored)},
      {"includeMetrics", into(with_metrics)},
      {"startIndex", into(request.start)},
      {"sliceSize", into(request.size)},
      {"aggregationType", into(request.query.aggregation,
                               {"AGGREGATION_UNSET", "AGGREGATION_AVG", "AGGREGATION_MEDIAN",
                                "AGGREGATION_MIN", "AGGREGATION_MAX"})},
      {"aggregationMetric",
       [&](const JsonValue& value) {
         return read_metric(value, request.query.aggregation_metric);
       }},
      {"allowedStatuses",
       [&](const JsonValue& value) {
         for (const JsonValue& item : value.items) {
           int32_t status = 0;
           if (!into(status, kStatuses)(item)) return false;
           request.query.statuses.push_back(status);
         }
         return value.is_array();
       }},
      {"colParams",
       [&](const JsonValue& value) {
         for (const JsonValue& item : value.items) {
           if (!read_column(item, request.query.columns.emplace_back())) return false;
         }
         return value.is_array();
       }},
  };
  const auto json = read_json(text);
  if (!json || !read_message(*json, handlers))
    return wrong<GroupsRequest>("ListSessionGroupsRequest", text);
  for (const hp::Column& column : request.query.columns) {
    if (!column.hparam && !column.metric) {
      return fail(Code::kInvalid, "Got ColParam with both \"metric\" and \"hparam\" fields unset");
    }
  }
  request.query.metrics = with_metrics ? hp::Metrics::kWith : hp::Metrics::kWithout;
  return request;
}

Result<EvalsRequest> evals_request(std::string_view text) {
  EvalsRequest request;
  std::string ignored;
  const auto json = read_json(text);
  const auto metric = [&](const JsonValue& value) { return read_metric(value, request.metric); };
  if (!json || !read_message(*json, {{"experimentName", into(ignored)},
                                     {"sessionName", into(request.session)},
                                     {"metricName", metric}})) {
    return wrong<EvalsRequest>("ListMetricEvalsRequest", text);
  }
  return request;
}

std::string experiment_json(const hp::Experiment& experiment) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("name").string(experiment.name);
    json.key("description").string(experiment.description);
    json.key("user").string(experiment.user);
    json.key("timeCreatedSecs").number(experiment.time_created_s);
    json.key("hparamInfos").array([&] {
      for (const hp::HparamInfo& info : experiment.hparams) write(json, info);
    });
    json.key("metricInfos").array([&] {
      for (const hp::MetricInfo& info : experiment.metrics) {
        json.object([&] {
          json.key("name");
          write(json, info.name);
          json.key("displayName").string(info.display_name);
          json.key("description").string(info.description);
          json.key("datasetType");
          write_enum(json, info.dataset_type, kDatasets);
        });
      }
    });
  });
  return out;
}

std::string groups_json(std::span<const hp::Group> page, size_t total) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("sessionGroups").array([&] {
      for (const hp::Group& group : page) {
        json.object([&] {
          json.key("name").string(group.name);
          json.key("hparams").object([&] {
            for (const auto& [name, value] : group.hparams) {
              json.key(name);
              write_value(json, value);
            }
          });
          json.key("metricValues");
          write(json, group.metrics);
          json.key("sessions").array([&] {
            for (const hp::SessionResult& session : group.sessions) write(json, session);
          });
          json.key("monitorUrl").string(group.monitor_url);
        });
      }
    });
    json.key("totalSize").number(static_cast<uint64_t>(total));
  });
  return out;
}

}  // namespace sonde::api::tensorboard
