// Which step every slice belongs to. Roots (step annotations, function runs) are found as the
// producers mark them; everything below a root, across threads and devices, gets its group. Where a
// program marked no step at all, steps are derived and `derived_rule` says how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/forest.h"
#include "capture/analysis/vocabulary.h"

namespace sonde::capture {

struct Group {
  std::string name;  // "train 7", or a bare number
  trace::SliceId root = trace::kNone;
  bool is_named = false;  // the root is a step annotation and not just a function run
};

struct Grouping {
  static constexpr int32_t kNoGroup = -1;
  std::vector<int32_t> of;     // by slice
  std::vector<Group> groups;   // by group id
  std::vector<uint8_t> eager;  // by slice: 1 = ran eagerly (ops and kernels only)
  // By device process track: spans of consecutive slices of one group, in time order.
  struct DeviceStep {
    trace::TrackId plane;
    int32_t group;
    int64_t begin, end;
  };
  std::vector<DeviceStep> device_steps;
  bool recorded = false;     // the file brought its groups
  std::string derived_rule;  // empty: steps are as the program marked them
};

Grouping group_slices(const trace::Trace& trace, const Vocabulary& words, const Forest& forest);

}  // namespace sonde::capture
