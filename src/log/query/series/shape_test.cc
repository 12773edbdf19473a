#include "log/query/series/shape.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A small deterministic noise in -0.5 … 0.5.
double noise(size_t i) {
  uint64_t x = i * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 31;
  x *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>(x >> 11) / 9007199254740992.0 - 0.5;
}

std::vector<double> made(size_t n, auto fn) {
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = fn(i);
  return out;
}

}  // namespace

TEST_CASE("shape: a summary counts what is not finite and finds the extremes") {
  Points points;
  const double values[] = {3, kNaN, 1, 5, std::numeric_limits<double>::infinity()};
  for (size_t i = 0; i < 5; ++i) {
    points.steps.push_back(static_cast<Step>(10 * i));
    points.walls.push_back(static_cast<double>(i));
    points.values.push_back(values[i]);
  }
  const CurveSummary summary = summary_of(points);
  CHECK(summary.points == 5);
  CHECK(summary.not_finite == 2);
  CHECK(summary.min == 1);
  CHECK(summary.min_step == 20);
  CHECK(summary.max == 5);
  CHECK(summary.max_step == 30);
  CHECK(summary.mean == 3);
  CHECK(*summary.first_not_finite == 10);
  CHECK(std::isnan(summary_of({}).min));
}

TEST_CASE("shape: a jump is found where it is") {
  const auto values = made(400, [](size_t i) { return (i < 250 ? 1.0 : 3.0) + 0.2 * noise(i); });
  const auto found = change_points(values, 5);
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 250);
  CHECK(found[0].is_jump);
  CHECK(found[0].before == doctest::Approx(1).epsilon(0.1));
  CHECK(found[0].after == doctest::Approx(3).epsilon(0.1));
}

TEST_CASE("shape: a bend is no jump, a straight line no change, hostile values harm nothing") {
  const auto bend = made(400, [](size_t i) {
    return (i < 200 ? 0.0 : 0.05 * static_cast<double>(i - 200)) + 0.2 * noise(i);
  });
  const auto found = change_points(bend, 3);
  REQUIRE(!found.empty());
  CHECK(std::abs(static_cast<int>(found[0].index) - 200) < 15);
  CHECK(!found[0].is_jump);
  CHECK(
      change_points(made(500, [](size_t i) { return 0.1 * static_cast<double>(i) + noise(i); }), 5)
          .empty());
  CHECK(change_points(std::vector<double>(100, kNaN), 5).empty());
  CHECK(change_points(std::vector<double>(100, 7), 5).empty());
  CHECK(change_points({}, 5).empty());
  const auto holes = made(
      400, [](size_t i) { return i % 3 == 0 ? kNaN : (i < 250 ? 1.0 : 3.0) + 0.2 * noise(i); });
  REQUIRE(change_points(holes, 5).size() == 1);
  CHECK(std::abs(static_cast<int>(change_points(holes, 5)[0].index) - 250) <= 1);
}

TEST_CASE("shape: long curves are looked at in parts") {
  const auto values =
      made(100'000, [](size_t i) { return (i < 60'000 ? 0.0 : 5.0) + 0.2 * noise(i); });
  const auto found = change_points(values, 5);
  REQUIRE(found.size() >= 1);
  bool near = false;
  for (const ChangePoint& change : found)
    near = near || (change.index > 59'900 && change.index < 60'100);
  CHECK(near);
}

TEST_CASE("shape: spikes stand out from their neighbours, not from the whole curve") {
  auto values = made(300, [](size_t i) { return 0.1 * static_cast<double>(i) + 0.2 * noise(i); });
  values[100] += 9;
  values[200] -= 9;
  const auto found = spikes(values, 8, 10);
  REQUIRE(found.size() == 2);
  CHECK(found[0].index == 100);
  CHECK(found[0].z > 8);
  CHECK(found[1].index == 200);
  CHECK(found[1].z < -8);
  CHECK(spikes(values, 8, 1).size() == 1);
  CHECK(spikes({}, 8, 10).empty());
}

}  // namespace sonde::query
