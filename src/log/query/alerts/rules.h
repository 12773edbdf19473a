// Rules of alerts.yaml, and what of them fires for the runs of a snapshot.
//
//   loss is broken:
//     when: nan                 # nan, spike, divergence, plateau, stall, throughput, or an expression
//     tag: loss                 # regular expression over tags; not for expressions
//     runs: ^exp                # regular expression over run names
//   accuracy is low:
//     when: val/acc < 0.5 and step(val/acc) > 1000
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.h"
#include "log/query/alerts/condition.h"

namespace sonde::query {

struct AlertRule {
  std::string name, when;
  std::optional<Expression> expression;  // else `when` is a word about curves
  std::optional<Regex> tags, runs;
  CurveLimits limits;
};

// kInvalid, naming the rule, for one that makes no sense.
Result<std::vector<AlertRule>> read_rules(std::string_view yaml);

struct Alert {
  std::string rule, run, tag;
  Fired fired;
};
// At most `most`, newest first. `now`: seconds since 1970.
std::vector<Alert> fired_alerts(const std::vector<AlertRule>& rules,
                                const store::Snapshot& snapshot, double now, size_t most = 1000);

inline constexpr std::string_view kRulesFile = "alerts.yaml";

}  // namespace sonde::query
