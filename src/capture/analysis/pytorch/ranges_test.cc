#include "capture/analysis/pytorch/ranges.h"

#include <doctest/doctest.h>

namespace sonde::capture::pytorch {

TEST_CASE("Ranges: merging, common parts and what is left, by hand") {
  const Ranges a = merged({{5, 8}, {0, 2}, {2, 3}, {6, 7}});
  CHECK(a == Ranges{{0, 3}, {5, 8}});
  const Ranges b{{1, 6}, {7, 10}};
  CHECK(intersection(a, b) == Ranges{{1, 3}, {5, 6}, {7, 8}});
  CHECK(difference(a, b) == Ranges{{0, 1}, {6, 7}});
  CHECK(difference(b, a) == Ranges{{3, 5}, {8, 10}});
  CHECK(total(a) == 6);
  CHECK(total_inside(a, {2, 6}) == 2);
  CHECK(total_inside({}, {0, 5}) == 0);
  CHECK(difference(a, {}) == a);
}

TEST_CASE("Ranges: nested slices of a thread become one range") {
  Ranges ranges;
  for (const Range& r : {Range{0, 10}, {1, 4}, {10, 12}, {20, 20}, {21, 22}}) append(ranges, r);
  CHECK(ranges == Ranges{{0, 12}, {21, 22}});
}

}  // namespace sonde::capture::pytorch
