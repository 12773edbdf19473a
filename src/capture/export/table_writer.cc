#include "capture/export/table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/export/stats.h"

namespace sonde::exports {
namespace {

std::vector<Filter::ForRun> filters_of(const Drawing& drawing) {
  std::vector<Filter::ForRun> filters;
  for (const Run& run : drawing.runs) filters.emplace_back(drawing.filter, run);
  return filters;
}

// A frame of a folded stack: ; separates frames and a blank the value.
std::string frame(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), ';', ',');
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

template <class Fn>
Written for_each_lane(const Drawing& drawing, const Fn& fn) {
  Written written;
  const Lanes lanes = lanes_of(drawing.runs, lane_options(drawing));
  const auto filters = filters_of(drawing);
  uint64_t aggregated = 0, points = 0;
  for (const Process& process : lanes.processes) {
    for (const uint32_t l : process.lanes) {
      const Lane& lane = lanes.lanes[l];
      for (const LanePart& part : lane.parts) {
        const trace::Track& track = drawing.runs[part.run].trace->tracks()[part.track];
        points += track.points;
        if (lane.kind == trace::TrackKind::kAggregate) aggregated += track.slices;
      }
      if (lane.kind == trace::TrackKind::kAggregate) continue;
      const auto placed = slices_of(drawing, lane, filters);
      written.slices += placed.size();
      for (const Placed& p : placed) written.total_ps += static_cast<uint64_t>(p.duration);
      fn(process, lane, placed);
    }
  }
  if (aggregated != 0)
    written.losses.push_back(
        fmt::format("{} sums without a start time have no place on a timeline", aggregated));
  if (points != 0)
    written.losses.push_back(fmt::format("{} samples of counters are no slices", points));
  return written;
}

}  // namespace

Written write_csv(const Drawing& drawing, io::TextOut& out) {
  out.text() += "run,process,lane,name,category,start_ns,duration_ns,depth\n";
  const int64_t base = drawing.axis.base_ns;
  return for_each_lane(drawing, [&](const Process& process, const Lane& lane, const auto& placed) {
    for (const Placed& p : placed) {
      const Run& run = drawing.runs[p.run];
      std::string& text = out.text();
      append_csv_cell(text, run.name);
      text += ',';
      append_csv_cell(text, process.name);
      text += ',';
      append_csv_cell(text, lane.name);
      text += ',';
      append_csv_cell(text, run.trace->shown_name(p.slice));
      text += ',';
      append_csv_cell(text, run.category(p.slice));
      fmt::format_to(std::back_inserter(text), ",{}.{:03},{}.{:03},{}\n", base + p.begin / 1000,
                     std::abs(p.begin % 1000), p.duration / 1000, p.duration % 1000,
                     run.trace->depth(p.slice));
      out.piece_done();
    }
  });
}

Written write_folded(const Drawing& drawing, io::TextOut& out) {
  std::map<std::string, int64_t> stacks;
  const Written written =
      for_each_lane(drawing, [&](const Process& process, const Lane& lane, const auto& placed) {
        struct Open {
          std::string path;
          int64_t end, self;
        };
        std::vector<Open> open;
        const std::string root = frame(process.name) + ";" + frame(lane.name);
        const auto close = [&](int64_t until) {
          while (!open.empty() && open.back().end <= until) {
            stacks[open.back().path] += std::max<int64_t>(0, open.back().self);
            open.pop_back();
          }
        };
        for (const Placed& p : placed) {
          close(p.begin);
          const int64_t end = p.begin + p.duration;
          if (!open.empty()) open.back().self -= std::min(end, open.back().end) - p.begin;
          if (p.duration == 0) continue;
          const std::string_view name = drawing.runs[p.run].trace->shown_name(p.slice);
          open.push_back(
              {(open.empty() ? root : open.back().path) + ";" + frame(name), end, p.duration});
        }
        close(INT64_MAX);
      });
  for (const auto& [path, ps] : stacks) {
    if (ps < 500) continue;
    out.text() += fmt::format("{} {}\n", path, (ps + 500) / 1000);
    out.piece_done();
  }
  return written;
}

}  // namespace sonde::exports
