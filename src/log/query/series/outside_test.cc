#include "log/query/series/outside.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/fake_series.h"

namespace sonde::query {
namespace {

uint64_t next_source = 7000;  // every lens of these tests is of a store of its own

TEST_CASE("outside: points are counted one by one, few and many") {
  for (const size_t n : {size_t{100}, size_t{20'000}}) {
    test::FakeSeries series;
    for (size_t i = 0; i < n; ++i) {
      double value = static_cast<double>(i % 1000) / 1000;  // 0 … 0.999
      if (i == 5) value = std::numeric_limits<double>::quiet_NaN();
      if (i == 6) value = std::numeric_limits<double>::infinity();
      series.add(static_cast<Step>(i), 1e9 + static_cast<double>(i), value);
    }
    const SeriesReader lens(series, {next_source++, store::RunId{0}, store::View::kNewest},
                            nullptr);
    CAPTURE(n);
    for (const auto& range : {std::optional<std::pair<double, double>>(),
                              std::optional<std::pair<double, double>>({{10.0, 61.0}})}) {
      Outside wanted;
      for (size_t i = 0; i < n; ++i) {
        const double value = series.values[i];
        if (i == 5 || i == 6) continue;
        if (range &&
            (static_cast<double>(i) < range->first || static_cast<double>(i) > range->second))
          continue;
        wanted.below += value < 0.0305;
        wanted.above += value > 0.0605;
      }
      const Outside found = count_outside(lens, Axis::kStep, range, 0.0305, 0.0605);
      CHECK(found.below == wanted.below);
      CHECK(found.above == wanted.above);
    }
    // Whole chunks lie above.
    CHECK(count_outside(lens, Axis::kStep, {}, -2, -1).above == n - 2);
  }
}

}  // namespace
}  // namespace sonde::query
