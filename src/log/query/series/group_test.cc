#include "log/query/series/group.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Band band_at_one_place(std::vector<double> values, GroupRule rule) {
  std::vector<std::vector<double>> rows;
  for (const double value : values) rows.push_back({value});
  return band_of(rows, 1, rule, nullptr);
}

}  // namespace

TEST_CASE("interpolated: linear inside the extent, nothing outside") {
  const std::vector<double> xs = {0, 10, 20}, ys = {0, 100, 50}, grid = {-1, 0, 5, 10, 15, 20, 21};
  const auto got = interpolated(xs, ys, grid);
  CHECK(std::isnan(got[0]));
  CHECK(got[1] == 0);
  CHECK(got[2] == 50);
  CHECK(got[3] == 100);
  CHECK(got[4] == 75);
  CHECK(got[5] == 50);
  CHECK(std::isnan(got[6]));
}

TEST_CASE("quantile: numpy's linear rule") {
  const std::vector<double> values = {1, 2, 4, 8};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.5) == 3);
  CHECK(quantile(values, 0.05) == doctest::Approx(1.15));
  CHECK(quantile(values, 1) == 8);
}

TEST_CASE("band_of: every rule by hand") {
  using R = GroupRule;
  const std::vector<double> values = {4, 2, kNaN, 9, 1};
  const Band std_band = band_at_one_place(values, {R::Centre::kMean, R::Band::kStd});
  CHECK(std_band.members[0] == 4);
  CHECK(std_band.centre[0] == 4);
  CHECK(std_band.hi[0] - 4 == doctest::Approx(std::sqrt(38.0 / 3)));
  const Band se = band_at_one_place(values, {R::Centre::kMedian, R::Band::kStandardError});
  CHECK(se.centre[0] == 3);
  CHECK(se.hi[0] - 4 == doctest::Approx(std::sqrt(38.0 / 3) / 2));
  const Band minmax = band_at_one_place(values, {R::Centre::kMean, R::Band::kMinMax});
  CHECK(minmax.lo[0] == 1);
  CHECK(minmax.hi[0] == 9);
  const Band q = band_at_one_place(values, {R::Centre::kMean, R::Band::kQuantiles, 0.25, 0.75});
  CHECK(q.lo[0] == doctest::Approx(1.75));
  CHECK(q.hi[0] == doctest::Approx(5.25));
  const Band none = band_at_one_place({kNaN}, {});
  CHECK(none.members[0] == 0);
  CHECK(std::isnan(none.centre[0]));
}

TEST_CASE("band_of: the bootstrap interval holds the mean and has about the right width") {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i % 10);
  const GroupRule rule{GroupRule::Centre::kMean, GroupRule::Band::kBootstrap};
  const Band band = band_at_one_place(values, rule);
  CHECK(band.lo[0] < 4.5);
  CHECK(band.hi[0] > 4.5);
  // Normal theory: 1.96 · 2.87 / 10 = 0.563 on each side.
  CHECK(band.hi[0] - band.lo[0] == doctest::Approx(2 * 0.563).epsilon(0.1));
  const Band again = band_at_one_place(values, rule);
  CHECK(again.lo[0] == band.lo[0]);
  const Band single = band_at_one_place({7}, rule);
  CHECK(single.lo[0] == 7);
  CHECK(single.hi[0] == 7);
}

}  // namespace sonde::query
