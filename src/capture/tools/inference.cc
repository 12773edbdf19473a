// Latency of served requests, by percentile, split into where the time goes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/merged.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture {
namespace {

using trace::SliceId;

struct RequestRow {
  std::string model;
  int64_t id = 0;
  double latency_ms = 0, h2d = 0, d2h = 0, compute = 0;
};

// Groups whose root is a serving event.
std::vector<RequestRow> requests_of(const HostAnalysis& host) {
  const trace::Trace& trace = host.trace();
  const Grouping& grouping = host.grouping();
  const trace::KeyId model = trace.key("model_name"), request = trace.key("request_id");
  std::vector<RequestRow> rows;
  std::map<int32_t, size_t> by_group;
  static constexpr std::string_view kServing[] = {"BatchingSessionRun", "BrainSessionRun",
                                                  "TfrtModelRun", "ServingModelRun"};
  for (size_t g = 0; g < grouping.groups.size(); ++g) {
    const SliceId root = grouping.groups[g].root;
    if (root == trace::kNone || std::ranges::find(kServing, trace.name(root)) == std::end(kServing))
      continue;
    RequestRow row;
    row.model = trace.text_of(trace.find(root, model));
    if (const auto id = trace.find(root, request)) row.id = id->as_int();
    row.latency_ms = static_cast<double>(trace.duration(root).value) / 1e9;
    by_group[static_cast<int32_t>(g)] = rows.size();
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return rows;
  for (const trace::TrackId plane : host.words().gpu_planes) {
    for (const trace::TrackId t : lines_of(trace, plane)) {
      if (host.words().derived[t]) continue;
      const trace::Track& track = trace.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const auto found = by_group.find(grouping.of[s]);
        if (found == by_group.end()) continue;
        const double ms = static_cast<double>(trace.duration(s).value) / 1e9;
        const OpCategory category = host.words().labels[trace.label_id(s)].op.category;
        RequestRow& row = rows[found->second];
        (category == OpCategory::kCopyHostToDevice   ? row.h2d
         : category == OpCategory::kCopyDeviceToHost ? row.d2h
                                                     : row.compute) += ms;
      }
    }
  }
  return rows;
}

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const char* name :
         {"BatchingSessionRun", "BrainSessionRun", "TfrtModelRun", "ServingModelRun"}) {
      if (host->trace().key(name) != trace::kNone) return {};
    }
  }
  return "no serving request in this capture";
}

Result<Report> inference(const Session& session, const Options& options) {
  Report report;
  std::map<std::string, std::vector<RequestRow>> models;
  for (const HostAnalysis* host : chosen_hosts(session, options)) {
    for (RequestRow& row : requests_of(*host))
      models[row.model.empty() ? "ANONYMOUS" : row.model].push_back(std::move(row));
  }
  Table model_table{"models", "Models"};
  model_table.columns = {{"model_name", "Model", Type::kText}};
  Table requests{"requests", "Requests"};
  requests.columns = {{"percentile", "Percentile", Type::kText},
                      {"request_id", "Request", Type::kText},
                      {"latency_ms", "Latency", Type::kNumber, "ms"},
                      {"host_preprocessing", "Host preprocessing", Type::kNumber, "ms"},
                      {"host_runtime", "Host runtime", Type::kNumber, "ms"},
                      {"data_transfer_h2d", "To the device", Type::kNumber, "ms"},
                      {"data_transfer_d2h", "From the device", Type::kNumber, "ms"},
                      {"device_compute", "Device compute", Type::kNumber, "ms"},
                      {"host_postprocess", "Host postprocessing", Type::kNumber, "ms"},
                      {"idle time", "Idle", Type::kNumber, "ms"},
                      {"model", "Model", Type::kText, "", "", "", true}};
  double sum = 0, h2d = 0, d2h = 0, compute = 0;
  size_t count = 0;
  for (const auto& [model, rows] : models) {
    for (const RequestRow& row : rows)
      sum += row.latency_ms, h2d += row.h2d, d2h += row.d2h, compute += row.compute, ++count;
  }
  const double n = std::max<double>(1, static_cast<double>(count));
  model_table.rows.push_back({std::string("ALL")});
  requests.rows.push_back({std::string("Average"), std::string("N/A"), sum / n, 0.0, 0.0, h2d / n,
                           d2h / n, compute / n, 0.0, std::max(0.0, sum - h2d - d2h - compute) / n,
                           std::string("ALL")});
  for (auto& [model, rows] : models) {
    model_table.rows.push_back({model});
    std::sort(rows.begin(), rows.end(),
              [](const RequestRow& a, const RequestRow& b) { return a.latency_ms < b.latency_ms; });
    for (const double percentile : {50.0, 75.0, 90.0, 99.0, 99.9, 99.99}) {
      const auto at =
          std::min(rows.size() - 1,
                   static_cast<size_t>(percentile / 100 * static_cast<double>(rows.size())));
      const RequestRow& row = rows[at];
      requests.rows.push_back({fmt::format("{:.3f}%", percentile), fmt::format("{}", row.id),
                               row.latency_ms, 0.0, 0.0, row.h2d, row.d2h, row.compute, 0.0,
                               std::max(0.0, row.latency_ms - row.h2d - row.d2h - row.compute),
                               model});
    }
  }
  model_table.property("hasBatching", "false");
  model_table.property("hasTensorPattern", "false");
  requests.property("averageLatencyMs",
                    fmt::format("{:.3f}", ratio(sum, static_cast<double>(count))));
  requests.property("throughput",
                    fmt::format("{:.1f}", ratio(static_cast<double>(count) * 1e3, sum)));
  if (count == 0) {
    report.missing.push_back(
        {"serving requests", what_is_missing(session),
         "capture a TensorFlow Serving or SavedModel server while it answers requests"});
  }
  report.tables = {std::move(model_table), std::move(requests)};
  report.charts.push_back(
      {"latency",
       "stack",
       "requests",
       "percentile",
       {"data_transfer_h2d", "device_compute", "data_transfer_d2h", "idle time"},
       "model"});
  if (count > 0) {
    report.figure("requests", "Requests", static_cast<int64_t>(count));
    report.figure("latency", "Mean latency", sum / n, "ms");
  }
  return report;
}

constexpr std::string_view kTables[] = {"models", "requests"};

}  // namespace

extern const Tool kInference;
const Tool kInference{"inference_profile", "Inference latency", inference, what_is_missing,
                      kTables};

}  // namespace sonde::capture
