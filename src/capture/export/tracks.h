// The lanes of a timeline made of several runs: a device, process or thread is the same over all
// runs when its name is (and its rank or host, where the capture knows one), whatever number the
// producer gave it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/export/sources.h"

namespace sonde::exports {

struct LanePart {
  uint32_t run;
  trace::TrackId track;
};

struct Lane {
  uint32_t process = 0;  // index into Lanes::processes
  std::string name;
  trace::TrackKind kind = trace::TrackKind::kThread;
  std::vector<LanePart> parts;
};

struct Process {
  std::string name;
  std::string labels;           // "run 2 (step_2)"
  std::vector<uint32_t> lanes;  // indices into Lanes::lanes, in order of display
};

struct Lanes {
  std::vector<Process> processes;  // in order of display
  std::vector<Lane> lanes;
};

struct LaneOptions {
  bool one_group_a_run = false;  // --layout stack
  bool labels_runs = false;      // merge
  bool hides_memory = false;     // of run metadata
  bool keeps_empty = false;      // processes without lanes too
};
Lanes lanes_of(std::span<const Run> runs, const LaneOptions& options);

}  // namespace sonde::exports
