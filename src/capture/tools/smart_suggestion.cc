// The findings alone, as the list other programs ask xprof for: what fired, with what to change.
#include "capture/analysis/merged.h"
#include "capture/findings/findings.h"
#include "capture/tools/framework_unknown.h"

namespace sonde::capture {
namespace {

std::string what_is_missing(const Session&) { return {}; }

Result<Report> smart_suggestion(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const SessionSteps steps = session_steps(hosts);
  Report report;
  add_step_notes(hosts, report);
  report.findings = findings_of(hosts, steps);
  Json list = Json::array();
  for (const Finding& finding : report.findings) {
    if (!finding.fired) continue;
    Json entry = Json::object();
    entry.set("ruleName", finding.id);
    entry.set("suggestionText", finding.text + " " + finding.action);
    list.push(std::move(entry));
  }
  report.document = Json::object();
  report.document->set("suggestions", std::move(list));
  return report;
}

}  // namespace

extern const Tool kSmartSuggestion;
const Tool kSmartSuggestion{"smart_suggestion", "Findings", smart_suggestion, what_is_missing};

}  // namespace sonde::capture
