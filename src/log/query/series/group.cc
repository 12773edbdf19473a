#include "log/query/series/group.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kResamples = 1000;
constexpr uint64_t kSeed = 20240229;

// How often each resample draws each member; the same for every place, so that bands are smooth.
std::vector<std::vector<uint16_t>> resamples(size_t members) {
  std::mt19937_64 random(kSeed);
  std::vector<std::vector<uint16_t>> draws(kResamples, std::vector<uint16_t>(members));
  for (auto& counts : draws) {
    // Multiply-shift instead of a distribution: the same numbers with every standard library.
    for (size_t i = 0; i < members; ++i) ++counts[((random() >> 32) * members) >> 32];
  }
  return draws;
}

double weighted_median(std::span<const std::pair<double, size_t>> ascending,
                       const std::vector<uint16_t>& counts, size_t total) {
  // The two middle draws; the same one twice when their number is odd.
  const size_t low = (total - 1) / 2, high = total / 2;
  double first = kNaN;
  size_t seen = 0;
  for (const auto& [value, member] : ascending) {
    seen += counts[member];
    if (std::isnan(first) && seen > low) first = value;
    if (seen > high) return (first + value) / 2;
  }
  return first;
}

std::pair<double, double> bootstrap(std::span<const std::pair<double, size_t>> ascending,
                                    const std::vector<std::vector<uint16_t>>& draws,
                                    GroupRule::Centre centre) {
  std::vector<double> centres;
  centres.reserve(draws.size());
  for (const auto& counts : draws) {
    double sum = 0;
    size_t total = 0;
    for (const auto& [value, member] : ascending) {
      sum += counts[member] * value;
      total += counts[member];
    }
    if (total == 0) continue;  // this resample has no member that reaches here
    centres.push_back(centre == GroupRule::Centre::kMean
                          ? sum / static_cast<double>(total)
                          : weighted_median(ascending, counts, total));
  }
  if (centres.empty()) return {kNaN, kNaN};
  std::sort(centres.begin(), centres.end());
  return {quantile(centres, 0.025), quantile(centres, 0.975)};
}

// Centre and edges at one place.
void describe(std::span<const std::pair<double, size_t>> ascending, const GroupRule& rule,
              const std::vector<std::vector<uint16_t>>& draws, size_t place, Band& band) {
  const size_t n = ascending.size();
  std::vector<double> values(n);
  std::transform(ascending.begin(), ascending.end(), values.begin(),
                 [](const auto& pair) { return pair.first; });
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  band.centre[place] = rule.centre == GroupRule::Centre::kMean ? mean : quantile(values, 0.5);
  switch (rule.band) {
    case GroupRule::Band::kMinMax:
      band.lo[place] = values.front();
      band.hi[place] = values.back();
      return;
    case GroupRule::Band::kQuantiles:
      band.lo[place] = quantile(values, rule.low);
      band.hi[place] = quantile(values, rule.high);
      return;
    case GroupRule::Band::kBootstrap:
      std::tie(band.lo[place], band.hi[place]) = bootstrap(ascending, draws, rule.centre);
      return;
    case GroupRule::Band::kStd:
    case GroupRule::Band::kStandardError:
      break;
  }
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  double spread = n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : 0;
  if (rule.band == GroupRule::Band::kStandardError) spread /= std::sqrt(static_cast<double>(n));
  band.lo[place] = mean - spread;
  band.hi[place] = mean + spread;
}

}  // namespace

double quantile(std::span<const double> ascending, double q) {
  const double at = q * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<size_t>(at);
  if (low + 1 >= ascending.size()) return ascending.back();
  return ascending[low] + (ascending[low + 1] - ascending[low]) * (at - static_cast<double>(low));
}

std::vector<double> interpolated(std::span<const double> xs, std::span<const double> ys,
                                 std::span<const double> grid) {
  std::vector<double> out(grid.size(), kNaN);
  size_t next = 0;  // first point whose x is above the grid's
  for (size_t g = 0; g < grid.size(); ++g) {
    while (next < xs.size() && xs[next] <= grid[g]) ++next;
    if (next == 0) continue;
    const double x = xs[next - 1], y = ys[next - 1];
    if (x == grid[g]) {
      out[g] = y;
    } else if (next < xs.size()) {
      out[g] = y + (ys[next] - y) * ((grid[g] - x) / (xs[next] - x));
    }
  }
  return out;
}

std::vector<double> interpolated(const SeriesReader& lens, Axis axis, const Smoothing& smoothing,
                                 std::span<const double> grid) {
  std::vector<double> xs, ys;
  const auto keep = [&](double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    xs.push_back(x);
    ys.push_back(y);
  };
  const bool sorted = lens.run(axis).sorted();
  if (lens.is_small() || !sorted) {
    Points points;
    if (!lens.is_small()) lens.read(0, lens.size(), points);
    const Points& all = lens.is_small() ? lens.all() : points;
    const std::vector<double> values = smoothed(all.values, smoothing);
    for (size_t i = 0; i < all.size(); ++i)
      keep(lens.x(axis, all.steps[i], all.walls[i]), values[i]);
    if (!sorted) {
      std::vector<size_t> order(xs.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return xs[a] < xs[b]; });
      std::vector<double> sorted_xs, sorted_ys;
      for (const size_t i : order) {
        sorted_xs.push_back(xs[i]);
        sorted_ys.push_back(ys[i]);
      }
      xs.swap(sorted_xs);
      ys.swap(sorted_ys);
    }
    return interpolated(xs, ys, grid);
  }
  // A long series: only the points on both sides of each place are needed. Places are 256 points
  // apart or more on average, so one chunk on each side is read for each.
  std::vector<uint64_t> indices;
  for (const double x : grid) {
    const uint64_t above = lens.upper(axis, x);
    // A few neighbours more, in case the nearest ones are not finite.
    for (uint64_t i = above > 4 ? above - 4 : 0; i < std::min(lens.size(), above + 4); ++i) {
      if (indices.empty() || i > indices.back()) indices.push_back(i);
    }
  }
  const std::vector<double> values = smoothed_at(lens, smoothing, indices);
  Points points;
  for (size_t k = 0; k < indices.size();) {
    size_t end = k + 1;  // read neighbours together
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    points.clear();
    lens.read(indices[k], indices[end - 1] + 1, points);
    for (size_t i = 0; i < points.size(); ++i)
      keep(lens.x(axis, points.steps[i], points.walls[i]), values[k + i]);
    k = end;
  }
  return interpolated(xs, ys, grid);
}

Band band_of(const std::vector<std::vector<double>>& rows, size_t places, const GroupRule& rule,
             ThreadPool* pool) {
  Band band;
  band.centre.assign(places, kNaN);
  band.lo.assign(places, kNaN);
  band.hi.assign(places, kNaN);
  band.members.assign(places, 0);
  std::vector<std::vector<uint16_t>> draws;
  if (rule.band == GroupRule::Band::kBootstrap) draws = resamples(rows.size());
  constexpr size_t kPerJob = 64;
  const auto job = [&](size_t j) {
    std::vector<std::pair<double, size_t>> here;
    for (size_t i = j * kPerJob; i < std::min(places, (j + 1) * kPerJob); ++i) {
      here.clear();
      for (size_t m = 0; m < rows.size(); ++m) {
        if (!std::isnan(rows[m][i])) here.emplace_back(rows[m][i], m);
      }
      if (here.empty()) continue;
      std::sort(here.begin(), here.end());
      band.members[i] = static_cast<uint16_t>(std::min<size_t>(here.size(), UINT16_MAX));
      describe(here, rule, draws, i, band);
    }
  };
  const size_t jobs = (places + kPerJob - 1) / kPerJob;
  if (pool) {
    pool->for_each(jobs, job);
  } else {
    for (size_t j = 0; j < jobs; ++j) job(j);
  }
  return band;
}

}  // namespace sonde::query
