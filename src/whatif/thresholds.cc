#include "whatif/thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "whatif/intervals.h"

namespace sonde::whatif {
namespace {

constexpr uint32_t kLast = kThresholds - 1;

// How many of the thresholds 0 … 100 call it positive: k <= score*100.
size_t positives_of(double score) {
  const double scaled = score * 100;
  if (scaled < 0) return 0;
  if (scaled >= kLast) return kThresholds;
  return static_cast<size_t>(scaled) + 1;
}
// The same with k < score*100.
size_t strict_positives_of(double score) {
  const double scaled = score * 100;
  if (!(scaled > 0)) return 0;
  return static_cast<size_t>(std::min(std::ceil(scaled), double{kThresholds}));
}

// Examples by how many thresholds they are positive at, then summed from above.
struct Histogram {
  // [truth matches][positives]; a truth of kOther is wrong on either side.
  std::array<uint32_t, kThresholds + 1> match{}, zero{}, other{};

  void add(int32_t truth, int32_t label, size_t positives) {
    if (truth == label)
      ++match[positives];
    else if (truth == Truth::kOther || truth > 0)
      ++other[positives];
    else
      ++zero[positives];
  }
  Sweep sweep() const {
    Sweep out;
    uint32_t tp = 0, zero_above = 0, other_above = 0;
    uint32_t all_match = 0, all_zero = 0, all_other = 0;
    for (size_t i = 0; i <= kThresholds; ++i)
      all_match += match[i], all_zero += zero[i], all_other += other[i];
    for (size_t k = kThresholds; k-- > 0;) {
      tp += match[k + 1];
      zero_above += zero[k + 1];
      other_above += other[k + 1];
      out[k] = {tp, zero_above + other_above, all_zero - zero_above,
                all_match - tp + all_other - other_above};
    }
    return out;
  }
};

double positive_rate(const Counts& c) { return (double(c.tp) + c.fp) / c.total(); }
double true_rate(const Counts& c) { return c.tp / (double(c.tp) + c.fn); }
double false_rate(const Counts& c) { return c.fp / (double(c.fp) + c.tn); }
double right_rate(const Counts& c) { return (double(c.tp) + c.tn) / c.total(); }

// The measure that a strategy makes equal; equalised odds has two.
struct Point {
  double x = 0, y = 0;
  bool is_defined() const { return !std::isnan(x) && !std::isnan(y); }
  double distance(const Point& o) const { return std::max(std::abs(x - o.x), std::abs(y - o.y)); }
  friend auto operator<=>(const Point&, const Point&) = default;
};

Point measure(Strategy strategy, const Counts& c) {
  switch (strategy) {
    case Strategy::kDemographicParity:
      return {positive_rate(c), 0};
    case Strategy::kEqualOpportunity:
      return {true_rate(c), 0};
    case Strategy::kEqualAccuracy:
      return {right_rate(c), 0};
    case Strategy::kEqualisedOdds:
      return {true_rate(c), false_rate(c)};
    default:
      return {};
  }
}

uint32_t cheapest(const Sweep& sweep, double ratio) {
  uint32_t best = 0;
  for (uint32_t k = 0; k <= kLast; ++k)
    if (sweep[k].cost(ratio) <= sweep[best].cost(ratio)) best = k;
  return best;
}

struct Table {
  std::vector<std::array<Point, kThresholds>> points;
  std::vector<std::array<double, kThresholds>> costs;
  std::vector<std::vector<uint32_t>> ladder;  // thresholds by rising x; see make_ladder
};

// Of two thresholds that are equally close: the larger, or, when no slice is special, the cheaper
// first.
bool is_preferred(const Table& table, size_t slice, uint32_t k, uint32_t over, Search search) {
  const double mine = table.costs[slice][k], other = table.costs[slice][over];
  if (search == Search::kAllTargets && mine != other) return mine < other;
  return k > over;
}

Table table_of(const std::vector<Sweep>& sweeps, Strategy strategy, double ratio) {
  Table table;
  table.points.resize(sweeps.size());
  table.costs.resize(sweeps.size());
  for (size_t s = 0; s < sweeps.size(); ++s) {
    for (size_t k = 0; k < kThresholds; ++k) {
      table.points[s][k] = measure(strategy, sweeps[s][k]);
      table.costs[s][k] = sweeps[s][k].cost(ratio);
    }
  }
  return table;
}

// Each point once, with the threshold that is preferred for it, by rising x.
void make_ladder(Table& table, Search search) {
  for (size_t s = 0; s < table.points.size(); ++s) {
    const auto& points = table.points[s];
    std::vector<uint32_t> order;
    for (uint32_t k = 0; k <= kLast; ++k)
      if (points[k].is_defined()) order.push_back(k);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return points[a] < points[b]; });
    std::vector<uint32_t> steps;
    for (const uint32_t k : order) {
      if (steps.empty() || points[steps.back()] != points[k])
        steps.push_back(k);
      else if (is_preferred(table, s, k, steps.back(), search))
        steps.back() = k;
    }
    table.ladder.push_back(std::move(steps));
  }
}

// The threshold whose measure is closest to the target. kMissing when the measure is never defined.
// Walks from the target's x to both sides until x alone is farther than the best: two steps for a
// measure that is one number.
uint32_t closest(const Table& table, size_t slice, const Point& target, Search search) {
  const auto& points = table.points[slice];
  uint32_t best = kMissing;
  double distance = INFINITY;
  const auto consider = [&](uint32_t k) {
    const double d = points[k].distance(target);
    if (std::isnan(d) || d > distance) return;
    if (d == distance && best != kMissing && !is_preferred(table, slice, k, best, search)) return;
    best = k;
    distance = d;
  };
  const auto& ladder = table.ladder[slice];
  const auto middle =
      std::ranges::lower_bound(ladder, target.x, {}, [&](uint32_t k) { return points[k].x; });
  for (auto at = middle; at != ladder.end() && points[*at].x - target.x <= distance; ++at)
    consider(*at);
  for (auto at = middle; at != ladder.begin() && target.x - points[*(at - 1)].x <= distance; --at)
    consider(*(at - 1));
  return best;
}

double gap_of(const Table& table, const std::vector<uint32_t>& thresholds) {
  // The largest distance of two points, where a distance is the larger of two differences.
  Point low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
  for (size_t s = 0; s < thresholds.size(); ++s) {
    const Point& p = table.points[s][thresholds[s]];
    if (!p.is_defined()) continue;
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  return high.x < low.x ? 0 : std::max(high.x - low.x, high.y - low.y);
}

struct Target {
  Point point;
  uint32_t first = kMissing;  // the first slice's threshold, where that is fixed
};

std::vector<Target> targets_of(const Table& table, Search search) {
  std::vector<Target> targets;
  if (search == Search::kFirstSlice) {
    for (uint32_t k = 0; k <= kLast; ++k)
      if (table.points[0][k].is_defined()) targets.push_back({table.points[0][k], k});
    return targets;
  }
  std::vector<Point> points;
  for (const auto& slice : table.points)
    for (const Point& point : slice)
      if (point.is_defined()) points.push_back(point);
  std::ranges::sort(
      points, [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  for (const Point& point : points) targets.push_back({point});
  return targets;
}

Decision match(const Table& table, Search search) {
  Decision best;
  double best_cost = INFINITY, best_gap = INFINITY;
  for (const Target& target : targets_of(table, search)) {
    Decision next;
    for (size_t s = 0; s < table.points.size(); ++s) {
      const uint32_t k = s == 0 && target.first != kMissing
                             ? target.first
                             : closest(table, s, target.point, search);
      // A slice whose measure never exists keeps its cheapest threshold and is reported.
      if (k == kMissing) next.undefined.push_back(static_cast<uint32_t>(s));
      next.thresholds.push_back(k);
      if (k != kMissing) next.cost += table.costs[s][k];
      if (next.cost > best_cost) break;
    }
    if (next.cost > best_cost) continue;
    if (search == Search::kAllTargets && next.cost == best_cost) {
      std::vector<uint32_t> filled = next.thresholds;
      for (uint32_t& k : filled) k = k == kMissing ? 0 : k;
      if (gap_of(table, filled) > best_gap) continue;
    }
    best_cost = next.cost;
    std::vector<uint32_t> filled = next.thresholds;
    for (uint32_t& k : filled) k = k == kMissing ? 0 : k;
    best_gap = gap_of(table, filled);
    best = std::move(next);
  }
  return best;
}

}  // namespace

double Counts::accuracy() const { return share_of(double(tp) + tn, total()); }
double Counts::f1() const {
  if (tp == 0) return fp + fn > 0 ? 0 : 1;
  return 2.0 * tp / (2.0 * tp + fp + fn);
}
double Counts::precision() const { return share_of(tp, double(tp) + fp); }
double Counts::recall() const { return share_of(tp, double(tp) + fn); }
double Counts::false_positive_rate() const { return share_of(fp, double(fp) + tn); }

std::vector<Sweep> sweeps_of(const Predictions& predictions, const Truth& truth,
                             const Slicing& slicing) {
  std::vector<Histogram> histograms(slicing.slices.size());
  for (size_t row = 0; row < slicing.slice.size(); ++row)
    if (!predictions.is_missing(row))
      histograms[slicing.slice[row]].add(truth.labels[row], 1,
                                         positives_of(predictions.scores[row]));
  std::vector<Sweep> sweeps;
  for (const Histogram& histogram : histograms) sweeps.push_back(histogram.sweep());
  return sweeps;
}

Sweep sum_of(const std::vector<Sweep>& sweeps) {
  Sweep sum;
  for (const Sweep& sweep : sweeps) {
    for (size_t k = 0; k < kThresholds; ++k) {
      sum[k].tp += sweep[k].tp;
      sum[k].fp += sweep[k].fp;
      sum[k].tn += sweep[k].tn;
      sum[k].fn += sweep[k].fn;
    }
  }
  return sum;
}

Sweep one_against_rest(const Predictions& predictions, const Truth& truth, size_t label) {
  Histogram histogram;
  for (size_t row = 0; row < truth.labels.size(); ++row) {
    if (predictions.is_missing(row)) continue;
    const bool is_it = truth.labels[row] == static_cast<int32_t>(label);
    histogram.add(is_it ? 1 : 0, 1, strict_positives_of(predictions.score(row, label)));
  }
  return histogram.sweep();
}

std::string_view name_of(Strategy strategy) {
  constexpr std::string_view kNames[] = {"single_threshold",   "group_thresholds",
                                         "demographic_parity", "equal_opportunity",
                                         "equal_accuracy",     "equalised_odds"};
  return kNames[static_cast<size_t>(strategy)];
}

Result<Strategy> strategy_of(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(Strategy::kEqualisedOdds); ++i)
    if (name_of(static_cast<Strategy>(i)) == name) return static_cast<Strategy>(i);
  return fail(Code::kInvalid, fmt::format("'{}' is no strategy", name));
}

Result<Decision> decide(const std::vector<Sweep>& sweeps, Strategy strategy, double ratio,
                        Search search) {
  if (sweeps.size() > kMaxFairSlices)
    return fail(Code::kTooLarge, fmt::format("strategies compare at most {} slices; there are {}",
                                             kMaxFairSlices, sweeps.size()));
  Decision decision;
  if (sweeps.empty()) return decision;
  Table table = table_of(sweeps, strategy, ratio);
  make_ladder(table, search);
  if (strategy == Strategy::kSingleThreshold) {
    decision.thresholds.assign(sweeps.size(), cheapest(sum_of(sweeps), ratio));
  } else if (strategy == Strategy::kGroupThresholds) {
    for (const Sweep& sweep : sweeps) decision.thresholds.push_back(cheapest(sweep, ratio));
  } else {
    decision = match(table, search);
  }
  if (decision.thresholds.empty()) {  // the first slice's measure is never defined
    decision.thresholds.assign(sweeps.size(), kMissing);
    decision.undefined.push_back(0);
  }
  decision.cost = 0;
  for (size_t s = 0; s < sweeps.size(); ++s) {
    uint32_t& k = decision.thresholds[s];
    if (k == kMissing) k = cheapest(sweeps[s], ratio);
    decision.cost += sweeps[s][k].cost(ratio);
  }
  decision.gap = gap_of(table, decision.thresholds);
  return decision;
}

Gaps gaps_at(const std::vector<Sweep>& sweeps, const std::vector<uint32_t>& thresholds) {
  const auto gap = [&](double (*rate)(const Counts&)) {
    double low = INFINITY, high = -INFINITY;
    for (size_t s = 0; s < sweeps.size(); ++s) {
      const double value = rate(sweeps[s][thresholds[s]]);
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    return high > low ? high - low : 0;
  };
  return {gap(positive_rate), gap(true_rate), gap(false_rate), gap(right_rate)};
}

}  // namespace sonde::whatif
