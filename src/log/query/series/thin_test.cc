#include "log/query/series/thin.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "log/query/series/cache.h"
#include "tests/support/fake_series.h"

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
uint64_t next_source = 1000;  // every lens of these tests is of a store of its own

SeriesReader lens_of(const test::FakeSeries& series) {
  return {series, {next_source++, store::RunId{0}, store::View::kNewest}, nullptr};
}

Thinned thinned(const SeriesReader& lens, const Cut& cut) {
  return thin(lens, cut, count_in(lens, cut));
}

test::FakeSeries ramp(size_t n) {
  test::FakeSeries series;
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < n; ++i)
    series.add(static_cast<Step>(3 * i), 1e9 + 0.5 * static_cast<double>(i), normal(random));
  return series;
}

// Bucket by bucket, straight from the definition.
std::vector<Element> reference(const test::FakeSeries& s, const Cut& cut) {
  std::vector<Element> out;
  const double w = (cut.x1 - cut.x0) / static_cast<double>(cut.px);
  double bucket = -1;
  for (size_t i = 0; i < s.steps.size(); ++i) {
    const auto x = static_cast<double>(s.steps[i]);
    if (x < cut.x0 || x > cut.x1) continue;
    const double b = std::min(static_cast<double>(cut.px) - 1, std::floor((x - cut.x0) / w));
    if (b != bucket) {
      out.push_back({});
      out.back().min = kInfinity;
      out.back().max = -kInfinity;
      out.back().first = s.values[i];
    }
    bucket = b;
    Element& e = out.back();
    e.x = x;
    e.last = s.values[i];
    ++e.count;
    if (!std::isfinite(s.values[i])) continue;
    e.min = std::min(e.min, s.values[i]);
    e.max = std::max(e.max, s.values[i]);
    e.sum += s.values[i];
    ++e.finite;
  }
  return out;
}

}  // namespace

TEST_CASE("thin: short and long series equal the definition at every zoom") {
  drop_cache();
  for (const size_t n : {3000u, 50000u}) {
    test::FakeSeries series = ramp(n);
    series.values[n / 2] = 1e6;  // a spike of one point
    series.values[n / 3] = kNaN;
    const double end = 3.0 * static_cast<double>(n - 1);
    const SeriesReader lens = lens_of(series);
    for (const auto& [x0, x1] : {std::pair{0.0, end}, {end / 4, end / 2 + 7}, {100.5, 7777.25}}) {
      const Cut cut{Axis::kStep, Scale::kLinear, x0, x1, 100};
      const Thinned got = thinned(lens, cut);
      const auto expected = reference(series, cut);
      REQUIRE(!got.exact);
      // One neighbour outside on each side that has one.
      const size_t before = x0 > 0 ? 1 : 0, after = x1 < end ? 1 : 0;
      REQUIRE(got.elements.size() == expected.size() + before + after);
      size_t wrong = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        const Element &a = got.elements[i + before], &b = expected[i];
        const bool same_last = a.last == b.last || (std::isnan(a.last) && std::isnan(b.last));
        wrong += a.x != b.x || a.count != b.count || a.finite != b.finite || a.min != b.min ||
                 a.max != b.max || !same_last || std::abs(a.sum - b.sum) > 1e-6;
      }
      CHECK(wrong == 0);
      if (before) CHECK(got.elements.front().x < x0);
      if (after) CHECK(got.elements.back().x > x1);
    }
    const Cut all{Axis::kStep, Scale::kLinear, 0, end, 50};
    double highest = 0;
    uint64_t count = 0;
    for (const Element& e : thinned(lens, all).elements) {
      highest = std::max(highest, e.max);
      count += e.count;
    }
    CHECK(highest == 1e6);
    CHECK(count == n);
  }
}

TEST_CASE("thin: at most two points a pixel are sent as they are") {
  const test::FakeSeries series = ramp(200);
  const SeriesReader lens = lens_of(series);
  const Thinned got = thinned(lens, {Axis::kStep, Scale::kLinear, 0, 597, 100});
  CHECK(got.exact);
  REQUIRE(got.elements.size() == 200);
  for (size_t i = 0; i < 200; ++i) {
    CHECK(got.elements[i].last == series.values[i]);
    CHECK(got.elements[i].count == 1);
  }
  CHECK(!thinned(lens, {Axis::kStep, Scale::kLinear, 0, 597, 99}).exact);
}

TEST_CASE("thin: between two points, both of them are sent") {
  test::FakeSeries series;
  for (int i = 0; i < 10; ++i) series.add(100 * i, i, i);
  const SeriesReader lens = lens_of(series);
  const Thinned got = thinned(lens, {Axis::kStep, Scale::kLinear, 210, 260, 100});
  REQUIRE(got.elements.size() == 2);
  CHECK(got.elements[0].x == 200);
  CHECK(got.elements[1].x == 300);
}

TEST_CASE("thin: log and symlog cut equal widths in their own space") {
  test::FakeSeries series;
  for (int i = -10; i < 10000; ++i) series.add(i, i, i);
  const SeriesReader lens = lens_of(series);
  const Thinned log = thinned(lens, {Axis::kStep, Scale::kLog, 1, 9999, 4});
  REQUIRE(!log.exact);
  std::vector<double> ends;
  uint64_t count = 0;
  for (const Element& e : log.elements) {
    ends.push_back(e.x);
    count += e.count;
  }
  CHECK(ends == std::vector<double>{9, 99, 999, 9999});
  CHECK(count == 9999);
  const Thinned symlog = thinned(lens, {Axis::kStep, Scale::kSymlog, -10, 9999, 10});
  CHECK(symlog.elements.front().x < 0);
  uint64_t all = 0;
  for (const Element& e : symlog.elements) all += e.count;
  CHECK(all == 10010);
}

TEST_CASE("thin: where x goes back the series is cut into parts") {
  test::FakeSeries series;
  for (int part = 0; part < 3; ++part) {
    for (int i = 0; i < 3000; ++i) series.add(i, 3000 * part + i, part);
  }
  const SeriesReader lens = lens_of(series);
  const Thinned got = thinned(lens, {Axis::kStep, Scale::kLinear, 0, 2999, 100});
  CHECK(!got.sorted);
  CHECK(got.elements.size() == 300);
  for (const Element& e : got.elements) CHECK(e.min == e.max);  // no bucket mixes two parts
}

TEST_CASE("thin: a series that goes back all the time is put in order of x") {
  for (const size_t n : {2000u, 30000u}) {
    test::FakeSeries series;
    std::mt19937 random(3);
    for (size_t i = 0; i < n; ++i) series.add(static_cast<Step>(random() % 100000), 0, 1);
    const SeriesReader lens = lens_of(series);
    const Cut cut{Axis::kStep, Scale::kLinear, 1000, 90000, 64};
    const Thinned got = thinned(lens, cut);
    CHECK(got.sorted);
    CHECK(std::is_sorted(got.elements.begin(), got.elements.end(),
                         [](const Element& a, const Element& b) { return a.x < b.x; }));
    uint64_t count = 0;
    for (size_t i = 1; i + 1 < got.elements.size(); ++i) count += got.elements[i].count;
    CHECK(count == count_in(lens, cut));
  }
}

TEST_CASE("thin: wall times that are no numbers are left out, hidden points are not seen") {
  test::FakeSeries series;
  for (int i = 0; i < 100; ++i) series.add(i, i == 50 ? kNaN : i, i);
  series.show({{0, 20}, {40, 100}});
  const SeriesReader lens = lens_of(series);
  CHECK(lens.size() == 80);
  const Thinned got = thinned(lens, {Axis::kWall, Scale::kLinear, 0, 99, 100});
  CHECK(got.elements.size() == 79);
  for (const Element& e : got.elements) CHECK((e.x < 20 || e.x >= 40));
}

}  // namespace sonde::query
