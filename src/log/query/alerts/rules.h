// Rules of alerts.yaml, and what of them fires for the runs of a snapshot.
//
//   loss is broken:
//     when: nan                 # nan, spike, divergence, plateau, stall, throughput, or an expression
//     tag: loss                 # regular expression over tags; not for expressions
//     runs: ^exp                # regular expression over run names
//     per: group                # one alert for all runs of a group, not one each
//   accuracy is low:
//     when: val/acc < 0.5 and step(val/acc) > 1000
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.h"
#include "codec/json_read.h"
#include "log/query/alerts/condition.h"

namespace sonde::query {

struct AlertRule {
  std::string name, when;
  std::vector<std::pair<std::string, std::string>> fields;  // as written, `when` among them
  std::string remark;  // about a setting that is none; the rule holds without it
  bool per_group = false;
  std::optional<Expression> expression;  // else `when` is a word about curves
  std::optional<Regex> tags, runs;
  CurveLimits limits;
};

// kInvalid, naming the rule, for one that makes no sense.
Result<std::vector<AlertRule>> read_rules(std::string_view yaml);
Result<std::vector<AlertRule>> read_rules(const JsonValue& tree);

struct Alert {
  std::string rule, run, tag;
  Fired fired;
  std::string group;    // of a rule per group: its name; `run` is then the newest that fired
  uint64_t others = 0;  // runs of the group that fired as well

  // What people acknowledge or silence: the same text for the same trouble.
  std::string key() const { return rule + '\n' + (group.empty() ? run : group) + '\n' + tag; }
};
// The group that sonde_run.json names, else the folder that the run lies in.
std::string group_of(const store::RunSnapshot& run);

// At most `most`, newest first. `now`: seconds since 1970.
std::vector<Alert> fired_alerts(const std::vector<AlertRule>& rules,
                                const store::Snapshot& snapshot, double now, size_t most = 1000);

inline constexpr std::string_view kRulesFile = "alerts.yaml";

}  // namespace sonde::query
