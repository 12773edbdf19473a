#include "capture/tools/compare_noise.h"

#include <doctest/doctest.h>

namespace sonde::capture {
namespace {

TEST_CASE("change_of: steps that scatter more than they differ are no difference") {
  const std::vector<double> a{10, 14, 9, 13, 10, 12}, b{11, 13, 10, 14, 10, 12};
  const Change change = change_of(a, b);
  CHECK(change.has_interval);
  CHECK(change.is_noise());
  CHECK(change.low < change.share);
  CHECK(change.high > change.share);
}

TEST_CASE("change_of: steady steps show a small change") {
  const std::vector<double> a{10, 10.1, 9.9, 10, 10.05}, b{10.6, 10.5, 10.55, 10.6, 10.5};
  const Change change = change_of(a, b);
  CHECK_FALSE(change.is_noise());
  CHECK(change.low > 0.03);
  CHECK(change.high < 0.08);
  // The same captures, the same answer.
  CHECK(change_of(a, b).low == change.low);
}

TEST_CASE("change_of: two steps say nothing about noise") {
  CHECK_FALSE(change_of({10, 11}, {20, 21, 22}).has_interval);
  CHECK(change_of({10, 10}, {20, 20}).share == doctest::Approx(1));
  CHECK(change_of({}, {1}).share == 0);
}

}  // namespace
}  // namespace sonde::capture
