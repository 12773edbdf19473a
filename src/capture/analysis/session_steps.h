// Steps over all hosts of a request: aligned in time where there are several, with the statistics
// pages show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/analysis.h"

namespace sonde::capture {

struct SessionStep {
  std::string name;
  std::vector<const Step*> by_host;  // one per host that has steps, in host order
  const Step& slowest() const;
  int64_t duration() const { return slowest().duration(); }
};

struct SessionSteps {
  std::vector<SessionStep> steps;
  std::vector<const HostAnalysis*> hosts;  // of by_host
  bool empty_intersection = false;

  double total_ms() const;
  // Share of all step time, in percent, using the breakdown of each step's slowest host.
  double percent(Part part) const;
};

SessionSteps session_steps(const std::vector<const HostAnalysis*>& hosts);

struct Statistics {
  double average = 0, deviation = 0, minimum = 0, maximum = 0;
};
Statistics statistics(const std::vector<double>& values);

// How a capture's bottleneck is classified, by fixed thresholds.
struct Bottleneck {
  std::string where = "unknown";  // host, device, both, unknown
  std::string statement, next_step;
  std::string launch = "no", launch_statement;
  std::string other = "no", other_statement;
  std::string collectives = "no", collectives_statement;
  std::string precision_statement;
  double input_percent = 0, launch_percent = 0, other_percent = 0, collectives_percent = 0;
  double low_precision_percent = 0;  // share of device compute
  bool has_compute = false;
};
Bottleneck classify(const SessionSteps& steps, bool uses_tf_data);

bool uses_tf_data(const std::vector<const HostAnalysis*>& hosts);

// xprof's step table with its properties ("step_times").
Table step_table(const SessionSteps& steps, const Bottleneck& bottleneck,
                 std::string_view hardware_type);

}  // namespace sonde::capture
