// Every step on every host side by side: who is slow, and at what.
#include <fmt/format.h>

#include <algorithm>

#include "capture/analysis/merged.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture {
namespace {

std::string bottleneck_of(const Step& step) {
  Part worst = Part::kDeviceCompute;
  for (size_t p = 0; p < kPartCount; ++p) {
    const auto part = static_cast<Part>(p);
    const int64_t a = step.part(part), b = step.part(worst);
    if (a > b || (a == b && part_name(part) > part_name(worst))) worst = part;
  }
  return std::string(part_name(worst));
}

Json core_json(const Step& step, const std::string& host, int64_t number) {
  Json breakdown = Json::object();
  for (size_t p = 0; p < kPartCount; ++p)
    breakdown.set(fmt::format("{}", p + 1), micros(step.part(static_cast<Part>(p))));
  Json core = Json::object();
  core.set("hostName", host).set("chipId", 0).set("nodeId", 0).set("stepNum", number);
  core.set("totalDurationUs", micros(step.duration()));
  core.set("bottleneck", bottleneck_of(step));
  core.set("stepBreakdownUs", std::move(breakdown));
  return core;
}

Result<Report> pod_viewer(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const SessionSteps steps = session_steps(hosts);
  Report report;
  add_step_notes(hosts, report);
  Table table{"steps_by_host", "Steps by host"};
  table.columns = {{"step", "Step"},
                   {"host", "Host", Type::kText},
                   {"duration_us", "Duration", Type::kNumber, "us"},
                   {"bottleneck", "Largest part", Type::kText}};
  for (size_t p = 0; p < kPartCount; ++p) {
    table.columns.push_back({fmt::format("part_{}", p + 1),
                             std::string(part_name(static_cast<Part>(p))), Type::kNumber, "us"});
  }
  Json map = Json::array();
  double worst_skew = 0;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    Json cores = Json::object();
    int64_t fastest = INT64_MAX, slowest = 0;
    for (size_t h = 0; h < steps.hosts.size(); ++h) {
      const Step& step = *steps.steps[i].by_host[h];
      const std::string& host = steps.hosts[h]->host().name;
      fastest = std::min(fastest, step.duration());
      slowest = std::max(slowest, step.duration());
      cores.set(fmt::format("{}", steps.hosts[h]->index() * 1000 + 1),
                core_json(step, host, static_cast<int64_t>(i)));
      std::vector<Cell> row{static_cast<int64_t>(i), host, micros(step.duration()),
                            bottleneck_of(step)};
      for (size_t p = 0; p < kPartCount; ++p)
        row.emplace_back(micros(step.part(static_cast<Part>(p))));
      table.rows.push_back(std::move(row));
    }
    worst_skew = std::max(
        worst_skew, ratio(static_cast<double>(slowest - fastest), static_cast<double>(slowest)));
    Json entry = Json::object();
    entry.set("stepNum", static_cast<int64_t>(i)).set("podStatsPerCore", std::move(cores));
    entry.set("channelDb", Json::array()).set("coreIdToReplicaIdMap", Json::object());
    entry.set("allReduceOpDb", Json::array());
    map.push(std::move(entry));
  }
  Json events = Json::array();
  for (size_t p = 0; p < kPartCount; ++p) {
    events.push(Json::object()
                    .set("id", static_cast<int64_t>(p + 1))
                    .set("name", part_name(static_cast<Part>(p))));
  }
  Json document = Json::object();
  document.set("podStatsSequence", Json::object().set("podStatsMap", std::move(map)));
  document.set("stepBreakdownEvents", std::move(events));
  document.set("deviceType", main_machine(hosts).device_type);
  report.document = std::move(document);
  report.tables.push_back(std::move(table));
  if (steps.hosts.size() > 1)
    report.figure("worst_skew", "Largest difference between hosts", 100 * worst_skew, "%", "step");
  report.charts.push_back(
      {"by_host",
       "stack",
       "steps_by_host",
       "step",
       {"part_1", "part_2", "part_3", "part_4", "part_5", "part_6", "part_7", "part_8", "part_9"},
       "host"});
  if (steps.steps.empty()) {
    report.missing.push_back({"steps", "the capture holds no complete step",
                              "mark the steps of the loop and capture at least two of them"});
  }
  return report;
}

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (!host->steps().steps.empty()) return {};
  }
  return "no steps in this capture";
}

}  // namespace

extern const Tool kPodViewer;
const Tool kPodViewer{"pod_viewer", "Steps by host", pod_viewer, what_is_missing};

}  // namespace sonde::capture
