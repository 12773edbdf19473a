// Turns the step statistics of one or several runs into a trace that the profile tools read: a run
// is a step, a device a process, an executor thread a thread, kernels sit on streams, edges between
// ops are flows, memory of the outputs is a counter per allocator.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "capture/import/step_stats/step_stats.h"
#include "capture/trace/builder.h"

namespace sonde::imports {

struct StepStatsRun {
  std::string name;  // tag of the event file, or the file's name
  std::optional<int64_t> step;
  StepStats stats;
};

enum class Lanes : uint8_t {
  kThread,      // as recorded; packed where the file knows one thread only and nodes overlap
  kPacked,      // as few lanes a device as the nodes need
  kTensorFlow,  // TensorFlow's own packing
};

struct StepStatsOptions {
  Lanes lanes = Lanes::kThread;
  bool dataflow = true;
  bool memory = true;
  // Marks each run as a step and gives its slices to it; off where runs are told apart otherwise.
  bool steps = true;
  bool keeps_nodes = false;  // of the runs; else each is emptied once it is in the trace
  PartRead part_read = {};
};

// Runs that lie far apart in time (minutes between steps of milliseconds) are moved together, which
// a diagnosis says; each run's own time stays in its arguments.
void fill_trace(std::span<StepStatsRun> runs, const StepStatsOptions& options,
                trace::Builder& builder);

}  // namespace sonde::imports
