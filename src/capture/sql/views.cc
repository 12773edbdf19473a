// The list of tables, and views for what people ask most. Times in tables are whole picoseconds
// since the trace's start; views give milliseconds and say so in their columns' names.
#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

constexpr View kViews[] = {
    {"slices_ms", "id, start_ms, dur_ms, self_ms, name, category, track, depth, parent",
     "select id, ts / 1e9 as start_ms, dur / 1e9 as dur_ms, self / 1e9 as self_ms, name, category, "
     "track, depth, parent from slices"},
    {"thread_slices", "id, ts, dur, self, name, category, process, thread, track, depth, parent",
     "select s.id, s.ts, s.dur, s.self, s.name, s.category, t.process, t.thread, s.track, s.depth, "
     "s.parent from slices s join tracks t on t.id = s.track"},
    {"device_slices", "id, ts, dur, name, category, process, thread, track",
     "select s.id, s.ts, s.dur, s.name, s.category, t.process, t.thread, s.track from tracks t "
     "join slices s on s.track = t.id where t.kind = 'stream'"},
    {"names_ms", "name, category, count, dur_ms, self_ms, mean_ms, min_ms, max_ms",
     "select name, category, count, dur / 1e9 as dur_ms, self / 1e9 as self_ms, dur / 1e9 / count "
     "as mean_ms, min_dur / 1e9 as min_ms, max_dur / 1e9 as max_ms from names where count > 0"},
    {"steps_ms",
     "id, name, start_ms, dur_ms, device_compute_ms, device_to_device_ms, collectives_ms, "
     "host_compute_ms, launch_ms, input_ms, output_ms, compile_ms, other_ms",
     "select id, name, ts / 1e9 as start_ms, dur / 1e9 as dur_ms, device_compute / 1e9 as "
     "device_compute_ms, device_to_device / 1e9 as device_to_device_ms, collectives / 1e9 as "
     "collectives_ms, host_compute / 1e9 as host_compute_ms, launch / 1e9 as launch_ms, input / "
     "1e9 as input_ms, output / 1e9 as output_ms, compile / 1e9 as compile_ms, other / 1e9 as "
     "other_ms from steps"},
    {"counters_ms", "track, name, time_ms, value",
     "select track, name, ts / 1e9 as time_ms, value from counters"},
};

}  // namespace

std::vector<std::unique_ptr<Source>> all_tables(Model& model) {
  std::vector<std::unique_ptr<Source>> tables;
  for (const auto make : {slices_table, args_table, names_table, tracks_table, track_args_table,
                          counters_table, flows_table, steps_table, metadata_table})
    tables.push_back(make(model));
  return tables;
}

std::span<const View> all_views() { return kViews; }

}  // namespace sonde::capture::sql
