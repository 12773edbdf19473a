#include "log/query/series/smooth.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "log/query/series/cache.h"
#include "log/query/series/series_reader.h"
#include "tests/support/fake_series.h"

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The formula of the front end, written down without any shortcut.
std::vector<double> reference_ema(const std::vector<double>& ys, double w) {
  std::vector<double> out;
  bool constant = true;
  for (const double y : ys) constant = constant && y == ys[0];
  if (constant) return ys;
  double last = 0;
  int n = 0;
  for (const double y : ys) {
    if (!std::isfinite(y)) {
      out.push_back(y);
      continue;
    }
    last = last * w + (1 - w) * y;
    n++;
    out.push_back(last / (1 - std::pow(w, n)));
  }
  return out;
}

std::vector<double> reference_mean(const std::vector<double>& ys, int half) {
  std::vector<double> out;
  const int n = static_cast<int>(ys.size());
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    int count = 0;
    for (int k = std::max(0, i - half); k <= std::min(n - 1, i + half); ++k) {
      if (std::isfinite(ys[k])) sum += ys[k], ++count;
    }
    out.push_back(std::isfinite(ys[i]) ? sum / count : ys[i]);
  }
  return out;
}

std::vector<double> reference_gauss(const std::vector<double>& ys, double sigma) {
  std::vector<double> out;
  const int n = static_cast<int>(ys.size()), reach = static_cast<int>(std::ceil(4 * sigma));
  for (int i = 0; i < n; ++i) {
    double sum = 0, weight = 0;
    for (int k = std::max(0, i - reach); k <= std::min(n - 1, i + reach); ++k) {
      if (!std::isfinite(ys[k])) continue;
      const double w = std::exp(-(i - k) * (i - k) / (2 * sigma * sigma));
      sum += w * ys[k];
      weight += w;
    }
    out.push_back(std::isfinite(ys[i]) ? sum / weight : ys[i]);
  }
  return out;
}

std::vector<double> noise(size_t n, double nan_share) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> ys(n);
  for (double& y : ys) y = random() % 1000 < nan_share * 1000 ? kNaN : 3 + normal(random);
  return ys;
}

bool close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) wrong += !close(got[i], expected[i]);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("smoothed: equals the reference formulas, with and without NaN") {
  for (const double nan_share : {0.0, 0.05}) {
    const std::vector<double> ys = noise(3000, nan_share);
    for (const double w : {0.0, 0.3, 0.6, 0.99, 0.9999})
      check_close(smoothed(ys, {Smoothing::Kind::kEma, w}), reference_ema(ys, w));
    for (const int half : {0, 1, 5, 100, 5000})
      check_close(smoothed(ys, {Smoothing::Kind::kMean, 2.0 * half + 1}), reference_mean(ys, half));
    for (const double sigma : {0.5, 2.0, 30.0})
      check_close(smoothed(ys, {Smoothing::Kind::kGauss, sigma}), reference_gauss(ys, sigma));
  }
}

TEST_CASE("smoothed: values by hand") {
  const std::vector<double> ys = {1, 2, kNaN, 4};
  const auto out = smoothed(ys, {Smoothing::Kind::kEma, 0.5});
  CHECK(out[0] == 1.0);
  CHECK(out[1] == doctest::Approx(1.25 / 0.75));
  CHECK(std::isnan(out[2]));
  CHECK(out[3] == doctest::Approx((1.25 * 0.5 + 2) / 0.875));
  const std::vector<double> flat = {0.1, 0.1, 0.1};
  CHECK(smoothed(flat, {Smoothing::Kind::kEma, 0.9}) == flat);
}

TEST_CASE("smoothed_at: a long series gives the same numbers as all at once") {
  drop_cache();
  for (const double nan_share : {0.0, 0.02}) {
    test::FakeSeries series;
    const std::vector<double> ys = noise(20000, nan_share);
    for (size_t i = 0; i < ys.size(); ++i)
      series.add(static_cast<Step>(i), static_cast<double>(i), ys[i]);
    const SeriesReader lens(
        series, {nan_share > 0 ? 2u : 1u, store::RunId{0}, store::View::kNewest}, nullptr);
    REQUIRE(!lens.is_small());
    std::vector<uint64_t> indices = {0, 1, 255, 256, 257, 5000, 5001, 12345, 19998, 19999};
    for (const Smoothing& s :
         {Smoothing{Smoothing::Kind::kEma, 0.9}, Smoothing{Smoothing::Kind::kMean, 1001},
          Smoothing{Smoothing::Kind::kMean, 21}, Smoothing{Smoothing::Kind::kGauss, 50}}) {
      const auto all = smoothed(ys, s);
      std::vector<double> expected;
      for (const uint64_t i : indices) expected.push_back(all[i]);
      check_close(smoothed_at(lens, s, indices), expected);
    }
  }
}

TEST_CASE("cached trails: a series that grew continues, one that was replaced starts anew") {
  drop_cache();
  test::FakeSeries series;
  std::vector<double> ys = noise(6000, 0);
  const SeriesKey key{3, store::RunId{0}, store::View::kNewest};
  const Smoothing ema{Smoothing::Kind::kEma, 0.95};
  const auto check = [&] {
    const SeriesReader lens(series, key, nullptr);
    const std::vector<uint64_t> indices = {4095, 5000, series.steps.size() - 1};
    const auto all = reference_ema(series.values, 0.95);
    check_close(smoothed_at(lens, ema, indices), {all[4095], all[5000], all.back()});
  };
  for (size_t i = 0; i < ys.size(); ++i) series.add(static_cast<Step>(i), 0, ys[i]);
  check();
  for (size_t i = 0; i < 700; ++i) series.add(static_cast<Step>(6000 + i), 0, ys[i]);
  check();
  for (double& value : series.values) value = -value;
  check();
}

}  // namespace sonde::query
