#include "log/query/series/shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMadToSigma = 1.4826;
constexpr size_t kMostParts = 4096;
constexpr size_t kMinSegment = 5;
constexpr size_t kHalfWindow = 7;

// Least-squares lines over any part in constant time, from running sums.
class LineFits {
 public:
  explicit LineFits(std::span<const double> ys) : sums_(ys.size() + 1) {
    for (size_t i = 0; i < ys.size(); ++i) {
      const double x = static_cast<double>(i);
      Sums& next = sums_[i + 1] = sums_[i];
      next.x += x;
      next.y += ys[i];
      next.xx += x * x;
      next.xy += x * ys[i];
      next.yy += ys[i] * ys[i];
    }
  }

  struct Line {
    double slope = 0, offset = 0, error = 0;
    double at(double x) const { return offset + slope * x; }
  };
  Line fit(size_t begin, size_t end) const {
    const Sums &a = sums_[begin], &b = sums_[end];
    const double n = static_cast<double>(end - begin);
    const double x = b.x - a.x, y = b.y - a.y;
    const double xx = (b.xx - a.xx) - x * x / n, xy = (b.xy - a.xy) - x * y / n;
    const double yy = (b.yy - a.yy) - y * y / n;
    Line line;
    line.slope = xx > 0 ? xy / xx : 0;
    line.offset = (y - line.slope * x) / n;
    line.error = std::max(0.0, yy - line.slope * xy);
    return line;
  }

 private:
  struct Sums {
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  std::vector<Sums> sums_;
};

// Of second differences, so that a trend is not taken for noise.
double noise_of(std::span<const double> ys) {
  std::vector<double> seconds;
  for (size_t i = 1; i + 1 < ys.size(); ++i)
    seconds.push_back(std::abs(ys[i + 1] - 2 * ys[i] + ys[i - 1]));
  const double sigma = kMadToSigma * median_of(std::move(seconds)) / std::sqrt(6.0);
  const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
  return std::max({sigma, (*high - *low) * 1e-6, std::numeric_limits<double>::min()});
}

struct Split {
  size_t begin = 0, end = 0, at = 0;
  double gain = 0;
};

Split best_split(const LineFits& fits, size_t begin, size_t end) {
  Split best{begin, end, 0, 0};
  if (end - begin < 2 * kMinSegment) return best;
  const double whole = fits.fit(begin, end).error;
  for (size_t at = begin + kMinSegment; at + kMinSegment <= end; ++at) {
    const double gain = whole - fits.fit(begin, at).error - fits.fit(at, end).error;
    if (gain > best.gain) best = {begin, end, at, gain};
  }
  return best;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return kNaN;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

CurveSummary summary_of(const Points& points) {
  CurveSummary out;
  out.points = points.size();
  out.first = out.last = out.min = out.max = out.mean = kNaN;
  if (points.size() == 0) return out;
  out.first_step = points.steps.front(), out.last_step = points.steps.back();
  out.first_wall = points.walls.front(), out.last_wall = points.walls.back();
  out.first = points.values.front(), out.last = points.values.back();
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double value = points.values[i];
    if (!std::isfinite(value)) {
      ++out.not_finite;
      if (!out.first_not_finite) out.first_not_finite = points.steps[i];
      continue;
    }
    sum += value;
    if (!(value >= out.min)) out.min = value, out.min_step = points.steps[i];
    if (!(value <= out.max)) out.max = value, out.max_step = points.steps[i];
  }
  const uint64_t finite = out.points - out.not_finite;
  if (finite > 0) out.mean = sum / static_cast<double>(finite);
  return out;
}

std::vector<ChangePoint> change_points(std::span<const double> values, size_t most) {
  std::vector<size_t> places;
  std::vector<double> ys;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) places.push_back(i), ys.push_back(values[i]);
  }
  const size_t part = (ys.size() + kMostParts - 1) / kMostParts;
  if (part > 1) {
    std::vector<double> means;
    std::vector<size_t> firsts;
    for (size_t begin = 0; begin < ys.size(); begin += part) {
      const size_t end = std::min(ys.size(), begin + part);
      double sum = 0;
      for (size_t i = begin; i < end; ++i) sum += ys[i];
      means.push_back(sum / static_cast<double>(end - begin));
      firsts.push_back(places[begin]);
    }
    ys = std::move(means), places = std::move(firsts);
  }
  if (ys.size() < 2 * kMinSegment) return {};
  const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
  const double middle = (*low + *high) / 2;
  if (!(*high - *low > 1e-12 * std::abs(middle))) return {};
  for (double& y : ys) y -= middle;  // sums of squares of large numbers would lose the curve
  const LineFits fits(ys);
  const double variance = noise_of(ys) * noise_of(ys);
  const double penalty = 10 * std::log(static_cast<double>(ys.size()));
  std::vector<Split> open{best_split(fits, 0, ys.size())}, taken;
  while (taken.size() < most && !open.empty()) {
    const auto best = std::max_element(
        open.begin(), open.end(), [](const Split& a, const Split& b) { return a.gain < b.gain; });
    const Split split = *best;
    open.erase(best);
    if (split.gain / variance <= penalty) break;
    taken.push_back(split);
    open.push_back(best_split(fits, split.begin, split.at));
    open.push_back(best_split(fits, split.at, split.end));
  }
  std::sort(taken.begin(), taken.end(), [](const Split& a, const Split& b) { return a.at < b.at; });
  std::vector<ChangePoint> out;
  for (size_t i = 0; i < taken.size(); ++i) {
    const size_t from = i == 0 ? 0 : taken[i - 1].at;
    const size_t to = i + 1 == taken.size() ? ys.size() : taken[i + 1].at;
    const auto left = fits.fit(from, taken[i].at), right = fits.fit(taken[i].at, to);
    const double x = static_cast<double>(taken[i].at);
    ChangePoint change;
    change.index = places[taken[i].at];
    change.before = middle + left.at(x - 1), change.after = middle + right.at(x);
    change.slope_before = left.slope / static_cast<double>(part);
    change.slope_after = right.slope / static_cast<double>(part);
    change.strength = taken[i].gain / variance;
    const double jump = right.at(x) - left.at(x);
    const double spread = (left.error + right.error) / static_cast<double>(to - from);
    change.is_jump = jump * jump > 16 * std::max(variance, spread);
    out.push_back(change);
  }
  return out;
}

std::vector<Spike> spikes(std::span<const double> values, double min_z, size_t most) {
  std::vector<size_t> places;
  std::vector<double> ys;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) places.push_back(i), ys.push_back(values[i]);
  }
  if (ys.size() < 2 * kHalfWindow) return {};
  std::vector<double> expected(ys.size()), distances(ys.size()), window;
  for (size_t i = 0; i < ys.size(); ++i) {
    window.clear();
    const size_t begin = i < kHalfWindow ? 0 : i - kHalfWindow;
    const size_t end = std::min(ys.size(), i + kHalfWindow + 1);
    for (size_t j = begin; j < end; ++j) {
      if (j != i) window.push_back(ys[j]);
    }
    expected[i] = median_of(window);
    distances[i] = std::abs(ys[i] - expected[i]);
  }
  const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
  const double usual = std::max({kMadToSigma * median_of(distances), (*high - *low) * 1e-6,
                                 std::numeric_limits<double>::min()});
  std::vector<Spike> out;
  for (size_t i = 0; i < ys.size(); ++i) {
    const double z = (ys[i] - expected[i]) / usual;
    if (std::abs(z) >= min_z) out.push_back({places[i], ys[i], expected[i], z});
  }
  if (out.size() > most) {
    std::nth_element(out.begin(), out.begin() + static_cast<ptrdiff_t>(most), out.end(),
                     [](const Spike& a, const Spike& b) { return std::abs(a.z) > std::abs(b.z); });
    out.resize(most);
    std::sort(out.begin(), out.end(),
              [](const Spike& a, const Spike& b) { return a.index < b.index; });
  }
  return out;
}

}  // namespace sonde::query
