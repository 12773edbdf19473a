#include "capture/export/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::exports {
namespace {

using trace::kNone;
using trace::TrackId;
using trace::TrackKind;
constexpr size_t kLabelledRuns = 8;

// What tells captures of one program on several machines apart: the rank, else the host.
std::string origin_of(const Run& run) {
  const std::string_view info = run.trace->metadata("distributedInfo");
  if (const size_t at = info.find("\"rank\""); at != std::string_view::npos) {
    const size_t from = info.find_first_of("0123456789", at);
    if (from != std::string_view::npos)
      return fmt::format("rank {}",
                         info.substr(from, info.find_first_not_of("0123456789", from) - from));
  }
  return std::string(run.trace->host());
}

TrackId process_of(const trace::Trace& trace, TrackId t) {
  for (int depth = 0; trace.tracks()[t].parent != kNone && depth < 64; ++depth)
    t = trace.tracks()[t].parent;
  return t;
}

}  // namespace

Lanes lanes_of(std::span<const Run> runs, const LaneOptions& options) {
  Lanes out;
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> processes;
  std::map<std::tuple<uint32_t, std::string, TrackKind, uint32_t>, uint32_t> lanes;
  std::vector<std::vector<uint32_t>> labelled;  // runs by process
  bool several_origins = false;
  for (const Run& run : runs) several_origins |= origin_of(run) != origin_of(runs[0]);
  for (uint32_t r = 0; r < runs.size(); ++r) {
    const trace::Trace& trace = *runs[r].trace;
    const std::string origin =
        options.one_group_a_run ? fmt::format("run {}", r) : origin_of(runs[r]);
    std::map<TrackId, uint32_t> process_number;
    std::map<std::string, uint32_t> same_process;
    std::map<std::tuple<uint32_t, std::string, TrackKind>, uint32_t> same_lane;
    std::vector<TrackId> order(trace.tracks().size());
    for (TrackId t = 0; t < order.size(); ++t) order[t] = t;
    std::stable_sort(order.begin(), order.end(), [&](TrackId a, TrackId b) {
      return trace.tracks()[a].order < trace.tracks()[b].order;
    });
    const auto add_process = [&](TrackId t) {
      if (process_number.contains(t)) return;
      const std::string name(trace.shown_track_name(t));
      const auto [found, added] = processes.try_emplace(
          std::tuple(origin, name, same_process[name]++), out.processes.size());
      if (added) {
        const bool says_origin = several_origins && !options.one_group_a_run && !origin.empty();
        out.processes.push_back(
            {says_origin ? fmt::format("{} ({})", name, origin) : name, "", {}});
        labelled.emplace_back();
      }
      process_number[t] = found->second;
      labelled[found->second].push_back(r);
    };
    for (const TrackId t : order) {
      const trace::Track& track = trace.tracks()[t];
      if (options.keeps_empty && track.kind == TrackKind::kProcess) add_process(t);
      const bool hidden =
          options.hides_memory && runs[r].stats && track.kind == TrackKind::kCounter;
      if ((track.slices == 0 && track.points == 0) || hidden) continue;
      const TrackId root = process_of(trace, t);
      add_process(root);
      const uint32_t process = process_number[root];
      const std::string name(trace.shown_track_name(t));
      const uint32_t number = same_lane[{process, name, track.kind}]++;
      const auto [found, added] =
          lanes.try_emplace(std::tuple(process, name, track.kind, number), out.lanes.size());
      if (added) {
        out.lanes.push_back({process, name, track.kind, {}});
        out.processes[process].lanes.push_back(found->second);
      }
      out.lanes[found->second].parts.push_back({r, t});
    }
  }
  if (!options.labels_runs) return out;
  for (size_t p = 0; p < out.processes.size(); ++p) {
    for (size_t i = 0; i < labelled[p].size() && i < kLabelledRuns; ++i) {
      const Run& run = runs[labelled[p][i]];
      out.processes[p].labels +=
          fmt::format("{}run {} ({})", i == 0 ? "" : ", ", labelled[p][i], run.name);
    }
    if (labelled[p].size() > kLabelledRuns)
      out.processes[p].labels += fmt::format(", {} more", labelled[p].size() - kLabelledRuns);
  }
  return out;
}

}  // namespace sonde::exports
