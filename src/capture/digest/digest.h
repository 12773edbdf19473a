// What `sonde worker` left of thousands of captures, read back: a folder with steps/, ops/ and
// collectives/, a Parquet file a capture and host in each. Compares ranks; a trace is not needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "table/parquet_read.h"

namespace sonde::capture::digest {

// The tables that a folder may have, in the order in which people ask for them.
inline constexpr std::string_view kTables[] = {"steps",  "ops",      "collectives",
                                               "memory", "findings", "captures"};

// The Parquet files of a table, sorted by name; empty when the folder is no digest.
std::vector<std::string> files_of(const std::string& folder, std::string_view table);

// All rows of a table, in the order of files_of; columns that a file lacks are null there.
Result<table::ParquetTable> read_table(const std::string& folder, std::string_view table,
                                       ThreadPool& pool);

// Rank × step: how long each step took on each rank. A step is known by its name.
struct Ranks {
  std::vector<std::string> ranks;  // in natural order
  std::vector<std::string> hosts;  // of each rank
  std::vector<std::string> steps;  // in the order in which they ran
  std::vector<std::string> parts;  // what a step is made of: "input", "collectives" …
  std::vector<float> dur_ms;       // by rank, then step; NaN: the rank has no such step
  std::vector<double> median_ms;   // by step, over the ranks

  struct Straggler {
    uint32_t rank = 0;
    double lost_ms = 0;    // more than the median, over all steps
    uint32_t slowest = 0;  // steps in which it was the slowest
    std::string part;      // what most of it is; empty: it cannot be said
    double part_ms = 0;
  };
  std::vector<Straggler> stragglers;  // most lost time first, at most kMostRows

  struct Outlier {
    uint32_t rank = 0, step = 0;
    double dur_ms = 0, median_ms = 0;
  };
  std::vector<Outlier> outliers;  // far from what the others took, worst first, at most kMostRows
  static constexpr size_t kMostRows = 100;
};
Result<Ranks> compare_ranks(const std::string& folder, ThreadPool& pool);

// A collective by name and how often it had run on the rank before: the same one on every rank. Who
// waits longest came first, who waits least came last and kept the others.
struct Collective {
  std::string name;
  uint32_t number = 0;  // from 0
  uint32_t ranks = 0;
  double min_ms = 0, max_ms = 0, mean_ms = 0;
  std::string last_rank;  // the one with min_ms
  double waited_ms = 0;   // by all ranks together, beyond min_ms
};
// The `most` that ranks waited longest in. Files are read one after the other and forgotten.
Result<std::vector<Collective>> slowest_collectives(const std::string& folder, size_t most);

}  // namespace sonde::capture::digest
