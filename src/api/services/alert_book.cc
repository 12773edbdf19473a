#include "api/services/alert_book.h"

#include <algorithm>
#include <iterator>

namespace sonde::api::v1 {

AlertBook::AlertBook(SidecarFile& sidecar) {
  auto document = sidecar.read();
  if (!document) return;  // an alert is open until somebody is known to have seen it
  document_ = std::move(document->value);
  const JsonValue* settings = document_.find("settings");
  if (!settings) return;
  alerts_ = settings->find("alerts");
  rules_ = settings->find("alert_rules");
}

std::string_view AlertBook::state_of(const std::string& key) const {
  const JsonValue* found = alerts_ ? alerts_->find(key) : nullptr;
  if (found && found->text == "acknowledged") return "acknowledged";
  return found && found->text == "silenced" ? "silenced" : "open";
}

AlertBook::Rules AlertBook::rules() const {
  Rules out;
  if (!rules_) return out;
  for (const JsonMember& one : rules_->members) {
    JsonValue alone = JsonValue::object();
    alone.members.push_back(one);
    auto read = query::read_rules(alone);
    if (read)
      std::ranges::move(*read, std::back_inserter(out.good));
    else
      out.problem = std::move(read.error()).in("rules of the page").text;
  }
  return out;
}

}  // namespace sonde::api::v1
