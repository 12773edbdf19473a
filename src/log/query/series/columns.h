// Many scalar series in one answer of typed arrays: cut to the range and pixels of a picture,
// smoothed over all points, or grouped into a centre and a band. A pure function of the series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "log/model/snapshot.h"
#include "log/query/series/column_file.h"
#include "log/query/series/group.h"
#include "log/query/series/thin.h"

namespace sonde::query {

inline constexpr size_t kMaxCells = 400000;
inline constexpr size_t kMaxPx = 16384;
inline constexpr int64_t kAllRuns =
    -1'000'000;  // the run of a line that is one of all runs; no group

// Which columns to send; `smooth` and those of groups follow from the question.
struct Wanted {
  bool min = true, max = true, last = true;
  bool first = false, mean = false, count = false, step = false, wall = false;
};

// One series of the question, found in a snapshot that outlives it.
struct Item {
  const store::RunSnapshot* run = nullptr;
  const store::Series* series = nullptr;
  const store::Series* x_series = nullptr;  // x = another tag
  uint32_t entry = 0;                       // of the request's list
  bool is_of_all_runs = false;              // one line that belongs to no run alone
};

struct GroupSet {
  uint32_t entry = 0;
  uint32_t set = 0;  // index of the set in the request
  std::vector<Item> members;
};

struct Question {
  Axis axis = Axis::kStep;
  bool x_is_tag = false;
  Scale scale = Scale::kLinear;
  std::optional<std::pair<double, double>> range;
  size_t px = 640;
  Wanted wanted;
  Smoothing smoothing;
  store::View view = store::View::kNewest;
  std::vector<Item> items;        // without a group
  std::vector<GroupSet> groups;   // with one
  std::optional<GroupRule> rule;  // set when grouped
  uint64_t source = 0;            // for the cache: which store this is
};

// A series of the answer.
struct Line {
  int64_t run = 0;  // -1 - set for a group; kAllRuns
  uint32_t entry = 0;
  const store::Series* series = nullptr;  // of the first member, for a group
  uint64_t n = 0, total = 0;
  bool exact = false, sorted = false;
  double first_wall = 0;
};

struct Picture {
  size_t px = 0;
  double x0 = 0, x1 = 0, w = 0;
  bool x_rounded = false;
  std::vector<Line> lines;
  std::vector<Column> columns;
};

// kTooLarge when even four pixels a series are beyond kMaxCells.
Result<Picture> columns(const Question& question, ThreadPool& pool);

}  // namespace sonde::query
