// Hyperparameters of a log directory: sessions, what their values mean together, and the groups a
// table shows. What is on disk are three kinds of summaries whose whole content is in the metadata.
// Pure functions of a snapshot; the JSON of requests and answers is the api's business.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/model/snapshot.h"

namespace sonde::query::hparams {

// A google.protobuf.Value. Lists and structs are kept as kOther: nothing compares or filters them.
struct Value {
  enum class Kind : uint8_t { kNull, kNumber, kString, kBool, kOther };
  Kind kind = Kind::kNull;
  double number = 0;
  std::string text;
  bool boolean = false;

  bool is_missing() const { return kind == Kind::kNull || kind == Kind::kOther; }
  friend bool operator==(const Value&, const Value&) = default;
};

struct MetricName {
  std::string group, tag;
  friend auto operator<=>(const MetricName&, const MetricName&) = default;
};

enum class Type : int32_t { kUnset = 0, kString = 1, kBool = 2, kFloat64 = 3 };

struct HparamInfo {
  std::string name, display_name, description;
  int32_t type = 0;
  bool differs = false;
  std::optional<std::vector<Value>> discrete;         // one of the two, or none
  std::optional<std::pair<double, double>> interval;  // smallest, largest
};

struct MetricInfo {
  MetricName name;
  std::string display_name, description;
  int32_t dataset_type = 0;
};

struct Experiment {
  std::string name, description, user;
  double time_created_s = 0;
  std::vector<HparamInfo> hparams;
  std::vector<MetricInfo> metrics;
};

struct Session {
  std::string run;
  std::string group;  // never empty: the run's name when the writer gave none
  std::map<std::string, Value> hparams;
  std::string model_uri, monitor_url;
  double start_time_s = 0, end_time_s = 0;
  int32_t status = 0;
};

// Everything the three kinds of summaries say, runs in the order of their names.
struct Records {
  std::optional<Experiment> experiment;  // of the first run that states one
  std::vector<Session> sessions;
};

// kInvalid when a record is newer than version 0 or not what its tag says.
Result<Records> collect(const store::Snapshot& snapshot);

enum class Metrics : uint8_t { kWith, kWithout };

// The stated experiment, or one inferred from the sessions. Differing hyperparameters come first,
// then by name; `limit` 0 means all.
Experiment experiment(const Records& records, const store::Snapshot& snapshot, Metrics metrics,
                      uint64_t limit);

struct MetricValue {
  MetricName name;
  double value = 0;
  int32_t step = 0;
  double wall_time = 0;
};

struct SessionResult {
  const Session* session = nullptr;  // lives as long as the Records
  std::vector<MetricValue> metrics;
};

struct Group {
  std::string name, monitor_url;
  std::map<std::string, Value> hparams;
  std::vector<MetricValue> metrics;  // of all sessions together
  std::vector<SessionResult> sessions;
};

enum class Order : uint8_t { kUnspecified = 0, kAscending = 1, kDescending = 2 };
enum class Aggregation : uint8_t { kUnset = 0, kAverage = 1, kMedian = 2, kMin = 3, kMax = 4 };

struct Column {
  std::optional<std::string> hparam;  // one of the two
  std::optional<MetricName> metric;
  Order order = Order::kUnspecified;
  bool missing_first = false;
  bool exclude_missing = false;
  std::optional<bool> include;
  std::optional<std::string> pattern;  // at most one of the three filters
  std::optional<std::pair<double, double>> interval;
  std::optional<std::vector<Value>> discrete;
};

struct GroupQuery {
  std::vector<Column> columns;
  std::vector<int32_t> statuses;  // a session of another status does not count
  Aggregation aggregation = Aggregation::kUnset;
  MetricName aggregation_metric;
  Metrics metrics = Metrics::kWith;
};

// All groups that pass the filters, sorted. kInvalid when a filter does not fit a value.
Result<std::vector<Group>> groups(const Records& records, const Experiment& experiment,
                                  const store::Snapshot& snapshot, const GroupQuery& query);

// The run that holds a metric of a session.
std::string metric_run(std::string_view session, std::string_view group);

// A number as Python prints it; shared with the JSON of domains.
std::string number_text(double value);

}  // namespace sonde::query::hparams
