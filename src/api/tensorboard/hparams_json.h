// The protobuf JSON of the hparams plug-in: requests in (camelCase or snake_case, unknown members
// refused), answers out (every field, defaults too).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json.h"
#include "log/query/hparams/hparams.h"

namespace sonde::api::tensorboard {

struct ExperimentRequest {
  query::hparams::Metrics metrics = query::hparams::Metrics::kWith;
  uint64_t limit = 0;
};

struct GroupsRequest {
  query::hparams::GroupQuery query;
  int64_t start = 0, size = 0;
};

struct EvalsRequest {
  std::string session;
  query::hparams::MetricName metric;
};

Result<ExperimentRequest> experiment_request(std::string_view json);
Result<GroupsRequest> groups_request(std::string_view json);
Result<EvalsRequest> evals_request(std::string_view json);

void write_value(JsonWriter& json, const query::hparams::Value& value);
std::string experiment_json(const query::hparams::Experiment& experiment);
// The page [start, start + size) of the groups.
std::string groups_json(std::span<const query::hparams::Group> page, size_t total);

}  // namespace sonde::api::tensorboard
