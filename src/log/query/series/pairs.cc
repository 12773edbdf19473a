#include "log/query/series/pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::query {
namespace {

// Steps and values in order of step; of equal steps the last one to arrive comes last.
struct Lookup {
  std::vector<Step> steps;
  std::vector<double> values;

  explicit Lookup(Points points)
      : steps(std::move(points.steps)), values(std::move(points.values)) {
    if (std::is_sorted(steps.begin(), steps.end())) return;
    std::vector<size_t> order(steps.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return steps[a] < steps[b]; });
    std::vector<Step> sorted_steps;
    std::vector<double> sorted_values;
    for (const size_t i : order) {
      sorted_steps.push_back(steps[i]);
      sorted_values.push_back(values[i]);
    }
    steps.swap(sorted_steps);
    values.swap(sorted_values);
  }
};

}  // namespace

uint64_t Pairs::count_in(double x0, double x1) const {
  return static_cast<uint64_t>(
      std::count_if(xs.begin(), xs.end(), [&](double x) { return x >= x0 && x <= x1; }));
}

Pairs paired(const store::Series& series, const store::Series& over, store::View view,
             const Smoothing& smoothing) {
  Points all, other;
  const ViewReader reader(series, view), other_reader(over, view);
  reader.read(0, reader.size(), all);
  other_reader.read(0, other_reader.size(), other);
  const Lookup lookup(std::move(other));
  const std::vector<double> smooth =
      smoothing.is_on() ? smoothed(all.values, smoothing) : std::vector<double>();

  Pairs pairs;
  pairs.first_wall = all.size() > 0 ? all.walls[0] : 0;
  size_t at = 0;  // the first step of the other tag above the present one
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all.steps[i] < all.steps[i - 1]) at = 0;
    while (at < lookup.steps.size() && lookup.steps[at] <= all.steps[i]) ++at;
    if (at == 0 || !std::isfinite(lookup.values[at - 1])) continue;
    const double x = lookup.values[at - 1];
    pairs.xs.push_back(x);
    pairs.points.steps.push_back(all.steps[i]);
    pairs.points.walls.push_back(all.walls[i]);
    pairs.points.values.push_back(all.values[i]);
    if (!smooth.empty()) pairs.smooth.push_back(smooth[i]);
    pairs.min_x = std::min(pairs.min_x, x);
    pairs.max_x = std::max(pairs.max_x, x);
  }
  return pairs;
}

PairPiece thinned_pairs(const Pairs& pairs, double x0, double x1, size_t px) {
  PairPiece piece;
  const auto inside = [&](size_t i) { return pairs.xs[i] >= x0 && pairs.xs[i] <= x1; };
  double first = kInfinity, last = -kInfinity;
  uint64_t count = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!inside(i)) continue;
    ++count;
    first = std::min(first, static_cast<double>(pairs.points.steps[i]));
    last = std::max(last, static_cast<double>(pairs.points.steps[i]));
  }
  piece.exact = count <= 2 * px;
  const double width = (last - first) / static_cast<double>(px);
  int64_t bucket = -1;
  Step before = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!inside(i)) {
      bucket = -1;
      continue;
    }
    const Step step = pairs.points.steps[i];
    const double value = pairs.points.values[i];
    const bool finite = std::isfinite(value);
    const int64_t here =
        width > 0 ? std::min(static_cast<int64_t>(px) - 1,
                             static_cast<int64_t>((static_cast<double>(step) - first) / width))
                  : 0;
    if (piece.exact || here != bucket || step < before) {
      piece.elements.push_back({});
      piece.elements.back().first = value;
      piece.elements.back().min = kInfinity;
      piece.elements.back().max = -kInfinity;
      if (!pairs.smooth.empty()) piece.smooth.push_back(0);
    }
    bucket = here;
    before = step;
    Element& e = piece.elements.back();
    e.index = i;
    e.x = pairs.xs[i];
    e.step = step;
    e.wall = pairs.points.walls[i];
    e.last = value;
    ++e.count;
    if (finite) {
      e.min = std::min(e.min, value);
      e.max = std::max(e.max, value);
      e.sum += value;
      ++e.finite;
    }
    if (!pairs.smooth.empty()) piece.smooth.back() = pairs.smooth[i];
  }
  return piece;
}

}  // namespace sonde::query
