// A part of a trace in time: what a profiler that ran only then would have written.
#pragma once

#include "capture/trace/trace.h"

namespace sonde::trace {

// Slices that reach over an end of [begin, end) are cut there, counters keep the value they had at
// `begin`, and what has no place in time (aggregates) is left out. Times stay those of `whole`, and
// so do tracks, labels and texts with their ids; slices get new ones.
Trace clipped(const Trace& whole, Picos begin, Picos end);

}  // namespace sonde::trace
