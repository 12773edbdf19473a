#include "log/query/media/distributions.h"

#include <doctest/doctest.h>

namespace sonde::query {
namespace {

TEST_CASE("distributions: the nine quantiles TensorBoard computes") {
  struct Case {
    std::vector<event::Bucket> buckets;
    std::array<double, 9> expected;
  };
  const Case cases[] = {
      {{{0, 1, 1}, {1, 2, 2}, {2, 4, 1}},
       {0, 0.2672, 0.6348, 1.117, 1.5, 1.883, 2.7304, 3.4656, 4}},
      {{{1, 1, 400}}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
      {{{0, 1, 0}, {1, 2, 0}}, {2, 2, 2, 2, 2, 2, 2, 2, 2}},
      {{{0, 0, 3}, {0, 1, 0}, {1, 3, 5}}, {0, 0, 0, 0, 1.4, 2.0128, 2.49216, 2.78624, 3}},
      {{}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
  };
  for (const Case& item : cases) {
    const auto found = compressed(item.buckets);
    for (size_t i = 0; i < 9; ++i) CHECK(found[i].value == doctest::Approx(item.expected[i]));
  }
}

}  // namespace
}  // namespace sonde::query
