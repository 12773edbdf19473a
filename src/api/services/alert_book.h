// The alert rules of a log directory and what people said to the alerts: rules of alerts.yaml,
// rules made on the page (settings.alert_rules of the sidecar), and which alerts somebody
// acknowledged or silenced (settings.alerts, {"rule\nrun\ntag": state}).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/services/sidecar_file.h"
#include "log/query/alerts/rules.h"

namespace sonde::api::v1 {

inline constexpr uint64_t kMaxRulesBytes = 1 << 20;

class AlertBook {
 public:
  explicit AlertBook(SidecarFile& sidecar);
  AlertBook(const AlertBook&) = delete;
  AlertBook& operator=(const AlertBook&) = delete;

  // "open", "acknowledged" or "silenced".
  std::string_view state_of(const std::string& key) const;
  // Those made on the page. One that cannot be read leaves the others alone: `problem` names it.
  struct Rules {
    std::vector<query::AlertRule> good;
    std::string problem;
  };
  Rules rules() const;

 private:
  JsonValue document_;
  const JsonValue* alerts_ = nullptr;
  const JsonValue* rules_ = nullptr;
};

}  // namespace sonde::api::v1
