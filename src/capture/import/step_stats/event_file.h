// The traced runs of an event file: its tagged_run_metadata events, in order of step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/import/step_stats/fill.h"

namespace sonde::imports {

struct EventFileRuns {
  std::vector<StepStatsRun> runs;   // views into the file's bytes
  std::vector<std::string> damage;  // sentences
};

bool sniff_event_file(std::string_view name, Bytes head);
EventFileRuns runs_of_event_file(Bytes file, const PartRead& part_read = {});

}  // namespace sonde::imports
