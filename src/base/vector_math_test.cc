#include "base/vector_math.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace sonde;

TEST_CASE("vector_math: the fast versions agree with the plain ones at every length") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(8 * 300);
  for (float& v : values) v = normal(random);
  for (size_t n = 0; n < 300; ++n) {
    const float* a[4] = {&values[0], &values[300], &values[600], &values[900]};
    const float* b[4] = {&values[1200], &values[1500], &values[1800], &values[2100]};
    REQUIRE(dot(a[0], b[0], n) ==
            doctest::Approx(dot_plain(a[0], b[0], n)).epsilon(1e-4).scale(10));
    REQUIRE(squared_distance(a[0], b[0], n) ==
            doctest::Approx(squared_distance_plain(a[0], b[0], n)).epsilon(1e-4));
    float products[16];
    dot_4x4(a, b, n, products);
    for (size_t i = 0; i < 16; ++i) {
      REQUIRE(products[i] ==
              doctest::Approx(dot_plain(a[i / 4], b[i % 4], n)).epsilon(1e-4).scale(10));
    }
  }
}
