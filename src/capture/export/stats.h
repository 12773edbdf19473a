// What took the time: slices of all runs added up by a key, the runs themselves, and the steps.
// Warm-up runs are left out unless asked for.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "capture/export/filter.h"
#include "capture/export/layout.h"
#include "capture/export/steps.h"

namespace sonde::exports {

struct KeyTotal {
  std::string key;
  uint64_t count = 0;
  int64_t total = 0, self = 0;  // ps
  int64_t least = 0, p50 = 0, p95 = 0, most = 0;
  uint32_t lanes = 0;
  int64_t first = 0, last = 0;  // begin of the first, end of the last, since the run's first slice
  std::vector<double> by_step = {};  // ps of Totals::steps; empty without steps

  double mean() const { return count == 0 ? 0 : static_cast<double>(total) / double(count); }
};

struct RunTotal {
  uint64_t slices = 0;
  int64_t span = 0, total = 0;               // total: sum of all durations
  int64_t host = 0, device = 0, copies = 0;  // time in which a lane of the class was busy, summed
  double peak_bytes = 0;                     // largest value of a memory counter
  RunFacts facts;
};

struct StepTotal {
  size_t run = 0;
  StepSpan span;
  std::array<int64_t, kKinds> kind{};  // owned time by priority
  int64_t communication = 0, exposed = 0, idle = 0;
  double peak_bytes = 0;
};

struct Totals {
  std::vector<RunTotal> runs;
  std::vector<KeyTotal> keys;  // largest total first; empty for --by step
  std::vector<StepTotal> steps;
  int64_t wall = 0;  // spans of the counted runs
  size_t counted_runs = 0;
};

struct Question {
  std::string by = "name";  // as --by, or "stack"
  bool includes_warmup = false;
  // How a name is written before it is looked up; see normal_name().
  bool normalises_names = false;
  bool counts_steps = false;
};

Totals add_up(std::span<const Run> runs, const Filter& filter, const Question& question);

// A kernel's base name: template and call arguments stripped, addresses and hashes as 0x….
std::string normal_name(std::string_view name);

// The printed forms.
std::string stats_text(std::span<const Run> runs, const Totals& totals, const Options& options);
std::string stats_csv(std::span<const Run> runs, const Totals& totals, const Options& options);
std::string stats_json(std::span<const Run> runs, const Totals& totals, const Options& options);
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace sonde::exports
