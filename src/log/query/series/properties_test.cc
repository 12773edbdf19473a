// What thinning and smoothing promise for every series, not only for the ones a test thought of.
#include <algorithm>
#include <cmath>
#include <limits>

#include "log/query/series/smooth.h"
#include "log/query/series/thin.h"
#include "tests/support/fake_series.h"
#include "tests/support/property.h"

namespace sonde::query {
namespace {

using testing::for_all;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
uint64_t next_source = 900000;  // every reader here is of a store of its own

SeriesReader reader_of(const test::FakeSeries& series) {
  return {series, {next_source++, store::RunId{0}, store::View::kNewest}, nullptr};
}

// Values as training logs them: mostly of one size, now and then huge, NaN or infinite.
rc::Gen<double> any_value() {
  return rc::gen::weightedOneOf<double>(
      {{20, rc::gen::map(rc::gen::inRange(-1000, 1000), [](int v) { return v / 7.0; })},
       {1, rc::gen::element(kNaN, HUGE_VAL, -HUGE_VAL, 1e300, -1e-300, 0.0)}});
}

// Steps rise, repeat and now and then go back.
test::FakeSeries any_series(size_t most) {
  const auto length = *rc::gen::inRange<size_t>(1, most);
  test::FakeSeries series;
  Step step = 0;
  for (size_t i = 0; i < length; ++i) {
    step += *rc::gen::weightedElement<int>({{30, 1}, {5, 7}, {3, 0}, {1, -40}});
    series.add(step, static_cast<double>(i), *any_value());
  }
  return series;
}

}  // namespace

TEST_CASE("property: thinning loses no point and no extreme") {
  for_all("counts, lowest and highest of the buckets are those of the points", [] {
    const test::FakeSeries series = any_series(400);
    const auto [low, high] = std::minmax_element(series.steps.begin(), series.steps.end());
    const Cut cut{Axis::kStep, Scale::kLinear, static_cast<double>(*low),
                  static_cast<double>(*high), *rc::gen::inRange<size_t>(1, 60)};
    const SeriesReader reader = reader_of(series);
    const uint64_t inside = count_in(reader, cut);
    RC_ASSERT(inside == series.steps.size());
    uint64_t points = 0, finite = 0;
    double least = HUGE_VAL, most = -HUGE_VAL, sum = 0;
    for (const Element& element : thin(reader, cut, inside).elements) {
      RC_ASSERT(element.finite <= element.count);
      points += element.count;
      finite += element.finite;
      if (element.finite == 0) continue;
      RC_ASSERT(element.min <= element.max);
      least = std::min(least, element.min);
      most = std::max(most, element.max);
      sum += element.sum;
    }
    uint64_t expected_finite = 0;
    double expected_least = HUGE_VAL, expected_most = -HUGE_VAL, expected_sum = 0, size = 1;
    for (const double value : series.values) {
      if (!std::isfinite(value)) continue;
      ++expected_finite;
      expected_least = std::min(expected_least, value);
      expected_most = std::max(expected_most, value);
      expected_sum += value;
      size += std::abs(value);
    }
    RC_ASSERT(points == inside);
    RC_ASSERT(finite == expected_finite);
    RC_ASSERT(least == expected_least);
    RC_ASSERT(most == expected_most);
    RC_ASSERT(std::abs(sum - expected_sum) <= 1e-9 * size);
  });
}

TEST_CASE("property: a zoom counts what lies in it, and shows nothing else but its neighbours") {
  for_all("every element is in the range, but for one beside each end of a part", [] {
    const test::FakeSeries series = any_series(300);
    const auto a = *rc::gen::inRange(-50, 600), b = *rc::gen::inRange(-50, 600);
    const Cut cut{Axis::kStep, Scale::kLinear, static_cast<double>(std::min(a, b)),
                  static_cast<double>(std::max(a, b)), *rc::gen::inRange<size_t>(1, 40)};
    const SeriesReader reader = reader_of(series);
    const uint64_t inside = count_in(reader, cut);
    const auto expected = std::count_if(series.steps.begin(), series.steps.end(), [&](Step step) {
      return static_cast<double>(step) >= cut.x0 && static_cast<double>(step) <= cut.x1;
    });
    RC_ASSERT(inside == static_cast<uint64_t>(expected));
    uint64_t shown = 0;
    for (const Element& element : thin(reader, cut, inside).elements) {
      if (element.x >= cut.x0 && element.x <= cut.x1) {
        shown += element.count;
      } else {
        RC_ASSERT(element.count == 1u);
      }
    }
    RC_ASSERT(shown == inside);
  });
}

TEST_CASE("property: smoothing stays between the extremes and keeps what is no number") {
  for_all("of every kind and strength", [] {
    const auto values = *rc::gen::container<std::vector<double>>(any_value());
    const auto kind =
        *rc::gen::element(Smoothing::Kind::kEma, Smoothing::Kind::kMean, Smoothing::Kind::kGauss);
    const double strength = kind == Smoothing::Kind::kEma ? *rc::gen::inRange(0, 1000) / 1000.0
                                                          : *rc::gen::inRange(1, 30);
    const std::vector<double> out = smoothed(values, {kind, strength});
    RC_ASSERT(out.size() == values.size());
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const double slack = 1e-9 * std::max({1.0, std::abs(least), std::abs(most)});
    for (size_t i = 0; i < values.size(); ++i) {
      RC_ASSERT(std::isfinite(out[i]) == std::isfinite(values[i]));
      if (!std::isfinite(out[i])) continue;
      RC_ASSERT(out[i] >= least - slack);
      RC_ASSERT(out[i] <= most + slack);
    }
  });
}

TEST_CASE("property: a smoothed point is the same whether it is asked for alone or with all") {
  for_all("at any indices of any series", [] {
    const test::FakeSeries series = any_series(200);
    const Smoothing smoothing{Smoothing::Kind::kEma, *rc::gen::inRange(0, 1000) / 1000.0};
    const std::vector<double> all = smoothed(series.values, smoothing);
    const auto index = *rc::gen::inRange<uint64_t>(0, all.size());
    const std::vector<uint64_t> asked = {index};
    const double alone = smoothed_at(reader_of(series), smoothing, asked).at(0);
    RC_ASSERT(alone == all[index] || (std::isnan(alone) && std::isnan(all[index])));
  });
}

}  // namespace sonde::query
