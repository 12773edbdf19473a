#include "capture/findings/findings.h"

#include <algorithm>
#include <cctype>

#include "capture/findings/resources.h"
#include "capture/findings/rules.h"

namespace sonde::capture {
namespace {

bool is_pytorch(const std::vector<const HostAnalysis*>& hosts) {
  return !hosts.empty() && std::all_of(hosts.begin(), hosts.end(),
                                       [](const HostAnalysis* host) { return host->is_pytorch(); });
}

}  // namespace

std::vector<Finding> all_findings(const std::vector<const HostAnalysis*>& hosts,
                                  const SessionSteps& steps) {
  using namespace findings;
  Rules r(hosts, steps);
  if (is_pytorch(hosts)) {
    pytorch_rules(r);
    return r.take();
  }
  for (const auto rule : {input_wait, first_step, prefetch_empty, host_to_device, output, launch,
                          kernels, precision, device_idle, communication, stragglers, loop_rules,
                          hot_operations, periodic, retracing, tpu, no_steps, data_loss})
    rule(r);
  resources(hosts, steps, r.found);
  return r.take();
}

std::vector<Finding> input_findings(const std::vector<const HostAnalysis*>& hosts,
                                    const SessionSteps& steps) {
  using namespace findings;
  Rules r(hosts, steps);
  if (is_pytorch(hosts)) {
    pytorch_rules(r);
    std::erase_if(r.found, [](const Finding& f) { return f.id != "IN-WAIT" && f.id != "H2D"; });
    return r.take();
  }
  input_wait(r);
  first_step(r);
  prefetch_empty(r);
  return r.take();
}

Table diagnostics_table(const Report& report) {
  Table table{"diagnostics", "Diagnostics"};
  table.columns = {{"severity", "Severity", Type::kText}, {"message", "Message", Type::kText}};
  for (const Note& note : report.diagnostics) {
    std::string severity = note.severity;
    std::transform(severity.begin(), severity.end(), severity.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    table.rows.push_back({severity, note.text});
  }
  return table;
}

}  // namespace sonde::capture
