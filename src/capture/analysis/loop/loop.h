// The training loop as the thread that runs it lives it. A period lasts from the start of one step
// to the start of the next, so what happens between two steps is part of it. Every moment of a
// period belongs to one act: what that thread does, or what it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/loop/words.h"
#include "capture/analysis/pytorch/ranges.h"
#include "capture/trace/trace.h"

namespace sonde::capture {
class HostAnalysis;
}

namespace sonde::capture::loop {

using pytorch::Range;
using pytorch::Ranges;

enum class Act : uint8_t {
  kCompute,        // operations of the step run, here or on a device or on worker threads
  kInput,          // waits for the next batch
  kCompile,        // traces or compiles
  kCheckpoint,     // writes the state
  kCallback,       // the compiled program waits for a function of Python
  kCommunication,  // waits for other ranks, or exchanges with them
  kOpByOp,         // hands over one small operation after the other
  kProfiler,       // the profiler's own functions
  kPython,         // functions of Python that call nothing recorded
  kUnrecorded,     // nothing is recorded: Python that was not traced, most likely
};
inline constexpr size_t kActCount = 10;
std::string_view act_name(Act act);

struct Period {
  int64_t begin = 0, marked_end = 0, end = 0;
  std::array<int64_t, kActCount> ps{};
  int64_t between_ps = 0;  // from the end of the step to the start of the next
  uint32_t slices = 0;     // that begin in it on the loop's thread: how much it does

  int64_t length() const { return end - begin; }
  int64_t of(Act act) const { return ps[static_cast<size_t>(act)]; }
};

// Small operations handed over one by one, in a row.
struct Chain {
  int64_t begin = 0, end = 0;
  uint32_t calls = 0, operations = 0;
};

struct Loop {
  trace::TrackId thread = trace::kNone;
  std::vector<Period> periods;
  std::array<Ranges, kActCount> moments;  // within the periods
  std::vector<Chain> chains;
  std::vector<bool> regions;  // by label: what the program itself marked, like record_function
  bool has_python = false, has_device = false;
  bool marked = true;  // else the steps were derived from names that come back
  // Derived from what comes back on the host of a device: layers, requests, or steps; what the host
  // does between them need not hold the device up.
  bool doubtful = false;
  bool compiled = false;     // TensorFlow: a compiled function is called
  bool nothing_ran = false;  // JAX: programs were handed over, none ran before the capture ended
  bool jax = false, keras = false, pytorch = false;  // what the names in the capture show

  const Ranges& of(Act act) const { return moments[static_cast<size_t>(act)]; }
};

Loop loop_of(const HostAnalysis& host);

// --- statistics over periods ---

double median(std::vector<double> values);  // 0 for none

// Which periods stand out, and which are the usual ones.
struct Rhythm {
  std::vector<size_t> usual, outliers;  // indices of periods
  double period_ms = 0;                 // median of all
  double mean_ms = 0;                   // of all
  double usual_ms = 0;                  // median of the usual ones; uneven: the mean
  double extra_share = 0;  // of all time: what the outliers take longer than a usual period
  size_t every = 0;        // outliers come at equal distances: 3 = every third; 0: not
  bool first_only = false;
  bool more_work = false;  // the outliers do more than the others; else they only take longer
  bool uneven = false;     // long ones come irregularly: all are usual, and the mean speaks
};
Rhythm rhythm_of(const Loop& loop);
// Median time of an act in the usual periods, in ms; no more of them than of all time. Of uneven
// ones the mean.
double usual_ms(const Loop& loop, const Rhythm& rhythm, Act act);

// --- who was it ---

// A name on the loop's thread, with the time of its slices inside the moments asked about.
struct Culprit {
  trace::LabelId label = 0;
  int64_t inside_ps = 0, total_ps = 0;
  uint32_t count = 0;
  uint16_t depth = 0;  // least
};
// All names that have time inside the moments, most first.
std::vector<Culprit> culprits(const trace::Trace& trace, const Loop& loop, const Ranges& moments);

// The functions of Python that the moments are spent in, from the outermost that does nothing
// else down to the innermost: "load_batch (train.py:12) → time.sleep". Empty when not traced.
struct Path {
  std::string text;      // for a sentence
  std::string function;  // the outermost that does nothing else
  bool region = false;   // the outermost is no function but what the program marked
  std::vector<std::string> functions;
  int64_t inside_ps = 0;
  uint32_t calls = 0;
  Purpose purpose = Purpose::kUnknown;
};
Path python_path(const trace::Trace& trace, const Loop& loop, const Ranges& moments);

Ranges inside(const Ranges& ranges, const Loop& loop, const std::vector<size_t>& periods);

}  // namespace sonde::capture::loop
