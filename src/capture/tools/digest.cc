// What is in the capture, counted: tracks, slices a name, sums of time. Nothing is interpreted, so
// this is also the proof that an importer lost nothing.
#include <map>
#include <span>
#include <vector>

#include "capture/analysis/analysis.h"

namespace sonde::capture {
namespace {

using trace::Trace;
using trace::Track;
using trace::TrackId;
using trace::TrackKind;

int64_t number(const Trace& trace, const Track& track, std::string_view key) {
  const auto value = trace.find(track.args, trace.key(key));
  return value ? value->as_int() : 0;
}

constexpr size_t kNameLength = 300;  // kernels of some libraries have names of thousands

struct Sum {
  int64_t events = 0, duration_ps = 0;
};

// A line and, where it has events without a place in time, its second track.
template <class Fn>
void for_each_slice_of_line(const Trace& trace, TrackId t, const Fn& fn) {
  const Track& track = trace.tracks()[t];
  for (uint32_t s = 0; s < track.slices; ++s) fn(track.first_slice + s);
  if (t + 1 < trace.tracks().size() && trace.tracks()[t + 1].kind == TrackKind::kAggregate) {
    const Track& more = trace.tracks()[t + 1];
    for (uint32_t s = 0; s < more.slices; ++s) fn(more.first_slice + s);
  }
}

// The tracks right below each track, in their order.
class Children {
 public:
  explicit Children(const Trace& trace) : first_(trace.tracks().size() + 1) {
    for (const Track& track : trace.tracks()) {
      if (track.parent < trace.tracks().size()) ++first_[track.parent + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    all_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (TrackId t = 0; t < trace.tracks().size(); ++t) {
      const TrackId parent = trace.tracks()[t].parent;
      if (parent < trace.tracks().size()) all_[next[parent]++] = t;
    }
  }
  std::span<const TrackId> of(TrackId parent) const {
    return {all_.data() + first_[parent], first_[parent + 1] - first_[parent]};
  }

 private:
  std::vector<uint32_t> first_;  // where a track's children begin in all_
  std::vector<TrackId> all_;
};

Result<Report> digest(const Session& session, const Options& options) {
  Report report;
  Table planes{"planes", "Processes and devices"};
  planes.columns = {{"host", "Host", Type::kText},
                    {"plane", "Process or device", Type::kText},
                    {"id", "Id"},
                    {"lines", "Tracks"},
                    {"events", "Slices"},
                    {"event_metadata", "Names"},
                    {"stat_metadata", "Argument names"},
                    {"stats", "Properties"}};
  Table lines{"lines", "Tracks"};
  lines.columns = {{"host", "Host", Type::kText},
                   {"plane", "Process or device", Type::kText},
                   {"line_id", "Id"},
                   {"line", "Track", Type::kText},
                   {"display_name", "Shown as", Type::kText},
                   {"timestamp_ns", "Start", Type::kNumber, "ns"},
                   {"duration_ps", "Duration", Type::kNumber, "ps"},
                   {"events", "Slices"},
                   {"sum_event_duration_ps", "Sum of slices", Type::kNumber, "ps"}};
  Table names{"names", "Names"};
  names.columns = {
      {"host", "Host", Type::kText},  {"plane", "Process or device", Type::kText},
      {"line", "Track", Type::kText}, {"name", "Name", Type::kText, "", "", "trace_viewer"},
      {"events", "Slices"},           {"sum_duration_ps", "Sum of slices", Type::kNumber, "ps"}};
  for (const HostAnalysis* host : chosen_hosts(session, options)) {
    const Trace& trace = host->trace();
    const std::string& host_name = host->host().name;
    int64_t errors = 0, warnings = 0;
    for (const trace::Diagnostic& diagnostic : trace.diagnostics()) {
      errors += diagnostic.severity == trace::Diagnostic::Severity::kError;
      warnings += diagnostic.severity == trace::Diagnostic::Severity::kWarning;
      report.diagnostics.push_back(
          {diagnostic.severity == trace::Diagnostic::Severity::kError ? "error" : "warning",
           host_name + ": " + diagnostic.text});
    }
    report.figure(host_name + "/hostnames", host_name + ": name in the file",
                  std::string(trace.host()));
    report.figure(host_name + "/errors", host_name + ": errors", errors);
    report.figure(host_name + "/warnings", host_name + ": warnings", warnings);
    const Children children(trace);
    for (TrackId p = 0; p < trace.tracks().size(); ++p) {
      const Track& process = trace.tracks()[p];
      if (process.kind != TrackKind::kProcess) continue;
      const std::string plane(trace.track_name(p));
      int64_t line_count = 0, event_count = 0;
      for (const TrackId t : children.of(p)) {
        const Track& track = trace.tracks()[t];
        if (track.kind == TrackKind::kAggregate || track.kind == TrackKind::kCounter) continue;
        ++line_count;
        Sum line_sum;
        std::map<std::string_view, Sum> by_name;
        for_each_slice_of_line(trace, t, [&](trace::SliceId s) {
          ++line_sum.events;
          line_sum.duration_ps += trace.duration(s).value;
          Sum& sum = by_name[trace.name(s).substr(0, kNameLength)];
          ++sum.events;
          sum.duration_ps += trace.duration(s).value;
        });
        event_count += line_sum.events;
        const std::string line(trace.track_name(t));
        lines.rows.push_back(
            {host_name, plane, track.id, line,
             std::string(track.display_name == trace::kNone ? "" : trace.text(track.display_name)),
             number(trace, track, "xplane.timestamp_ns"),
             number(trace, track, "xplane.duration_ps"), line_sum.events, line_sum.duration_ps});
        for (const auto& [name, sum] : by_name) {
          names.rows.push_back(
              {host_name, plane, line, std::string(name), sum.events, sum.duration_ps});
        }
      }
      planes.rows.push_back({host_name, plane, process.id, line_count, event_count,
                             number(trace, process, "xplane.event_metadata"),
                             number(trace, process, "xplane.stat_metadata"),
                             number(trace, process, "xplane.stats")});
    }
  }
  report.tables = {std::move(planes), std::move(lines), std::move(names)};
  return report;
}

std::string nothing_missing(const Session&) { return {}; }

}  // namespace

extern const Tool kDigest;
const Tool kDigest{"xspace_digest", "Contents of the capture", digest, nothing_missing};

}  // namespace sonde::capture
