#include "base/float_scan.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace sonde;

TEST_CASE("float_scan: the fast version gives the bits of the plain one at every length") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(200);
  for (float& v : values) v = normal(random);
  for (size_t n = 0; n <= values.size(); ++n) {
    const FloatScan fast = scan_floats(values.data(), n),
                    plain = scan_floats_plain(values.data(), n);
    REQUIRE(fast.low == plain.low);
    REQUIRE(fast.high == plain.high);
    REQUIRE(fast.sum == plain.sum);
    REQUIRE(fast.sum_squares == plain.sum_squares);
    REQUIRE(fast.finite);
  }
}

TEST_CASE("float_scan: one odd element anywhere is noticed") {
  for (const float odd : {NAN, INFINITY, -INFINITY}) {
    for (size_t at = 0; at < 50; ++at) {
      std::vector<float> values(50, 1.0f);
      values[at] = odd;
      const FloatScan fast = scan_floats(values.data(), values.size());
      REQUIRE_FALSE(fast.finite);
      REQUIRE(fast.low == (odd < 0 ? odd : 1.0f));
      REQUIRE(fast.high == (odd > 1 ? odd : 1.0f));
    }
  }
}
