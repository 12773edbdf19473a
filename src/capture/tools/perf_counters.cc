// Hardware counters that a device tracer sampled: one row a sample, as it was recorded.
#include <fmt/format.h>

#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (host->trace().key("counter_value") != trace::kNone) return {};
  }
  return "no event of this capture carries a counter_value";
}

std::vector<TrackId> devices_of(const Vocabulary& words) {
  std::vector<TrackId> planes = words.tpu_planes;
  planes.insert(planes.end(), words.gpu_planes.begin(), words.gpu_planes.end());
  return planes;
}

void add_plane(const HostAnalysis& host, TrackId plane, Table& table) {
  const trace::Trace& trace = host.trace();
  const trace::KeyId value_key = trace.key("counter_value");
  const auto text = [&](SliceId s, std::string_view key) {
    return std::string(trace.text_of(trace.find(s, trace.key(key))));
  };
  int64_t chip = static_cast<int64_t>(trace.tracks()[plane].id);
  for (const std::string_view key : {"device_id", "global_chip_id"}) {
    if (const auto id = trace.find(trace.tracks()[plane].args, trace.key(key))) chip = id->as_int();
  }
  int64_t sample = 0;
  for (const TrackId t : lines_of(trace, plane)) {
    const trace::Track& track = trace.tracks()[t];
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const auto value = trace.find(s, value_key);
      if (!value) continue;
      std::string kernel = text(s, "kernel_name");
      if (kernel.empty()) kernel = trace.track_name(t);
      table.rows.push_back({host.host().name, chip, kernel, sample++, std::string(trace.name(s)),
                            fmt::format("{:#x}", value->as_uint()),
                            text(s, "performance_counter_description"),
                            text(s, "performance_counter_sets")});
    }
  }
}

Result<Report> perf_counters(const Session& session, const Options& options) {
  Report report;
  Table table{"counters", "Counters"};
  table.columns = {{"Host", "Host", Type::kText},
                   {"Chip", "Chip"},
                   {"Kernel", "Kernel", Type::kText, "", "", "trace_viewer"},
                   {"Sample", "Sample"},
                   {"Counter", "Counter", Type::kText},
                   {"Value", "Value", Type::kText},
                   {"Description", "Description", Type::kText},
                   {"Set", "Set", Type::kText}};
  for (const HostAnalysis* host : chosen_hosts(session, options)) {
    if (host->trace().key("counter_value") == trace::kNone) continue;
    for (const TrackId plane : devices_of(host->words())) add_plane(*host, plane, table);
  }
  if (table.rows.empty()) {
    report.missing.push_back({"hardware counters", what_is_missing(session),
                              "capture on a TPU with its counters switched on, or with CUPTI's "
                              "range profiler on a GPU"});
  }
  report.tables.push_back(std::move(table));
  return report;
}

constexpr std::string_view kTables[] = {"counters"};

}  // namespace

extern const Tool kPerfCounters;
const Tool kPerfCounters{"perf_counters", "Hardware counters", perf_counters, what_is_missing,
                         kTables};

}  // namespace sonde::capture
