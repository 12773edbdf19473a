// Binary decisions at the thresholds 0.00, 0.01 … 1.00: counts of every slice in one pass, costs,
// and the strategies that pick a threshold for each slice. The comparison is not (k > score*100) in
// doubles, the rule of the original tool: 0.29 is not positive at 0.29, since 0.29*100 is below 29.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "whatif/predictions.h"
#include "whatif/slices.h"

namespace sonde::whatif {

inline constexpr size_t kThresholds = 101;
inline constexpr size_t kMaxFairSlices = 64;

struct Counts {
  uint32_t tp = 0, fp = 0, tn = 0, fn = 0;

  double total() const { return double(tp) + fp + tn + fn; }
  double accuracy() const;
  double f1() const;         // 0 when nothing is found, 1 when there was nothing to find either
  double precision() const;  // 0 when nothing is predicted
  double recall() const;
  double false_positive_rate() const;
  double cost(double ratio) const { return fp * ratio + fn; }
  friend bool operator==(const Counts&, const Counts&) = default;
};
using Sweep = std::array<Counts, kThresholds>;

// One sweep a slice. Examples without a prediction are left out.
std::vector<Sweep> sweeps_of(const Predictions& predictions, const Truth& truth,
                             const Slicing& slicing);
Sweep sum_of(const std::vector<Sweep>& sweeps);
// The multi-class rule: one label against the rest with score*100 > k.
Sweep one_against_rest(const Predictions& predictions, const Truth& truth, size_t label);

enum class Strategy : uint8_t {
  kSingleThreshold,
  kGroupThresholds,
  kDemographicParity,
  kEqualOpportunity,
  kEqualAccuracy,
  kEqualisedOdds,
};
std::string_view name_of(Strategy strategy);
Result<Strategy> strategy_of(std::string_view name);

enum class Search : uint8_t {
  kFirstSlice,  // matches every threshold of the first slice, as the original tool does
  kAllTargets,  // matches every value that any slice can reach: no slice is special
};

struct Decision {
  std::vector<uint32_t> thresholds;  // k of each slice
  double cost = 0;
  double gap = 0;  // largest difference of the strategy's measure between two slices
  std::vector<uint32_t> undefined;  // slices in which the measure is 0/0: they could not be matched
};
// kTooLarge above kMaxFairSlices slices.
Result<Decision> decide(const std::vector<Sweep>& sweeps, Strategy strategy, double cost_ratio,
                        Search search);

// What the measures differ by at given thresholds: how fair a set of thresholds is.
struct Gaps {
  double positive_rate = 0, recall = 0, false_positive_rate = 0, accuracy = 0;
};
Gaps gaps_at(const std::vector<Sweep>& sweeps, const std::vector<uint32_t>& thresholds);

}  // namespace sonde::whatif
