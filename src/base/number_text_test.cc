#include "base/number_text.h"

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace sonde {
namespace {

template <class T>
std::string ours(T value) {
  char text[kMaxRealText];
  return {text, write_real(text, value)};
}

template <class T>
std::string standard(T value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class T, class Bits>
void compare_random() {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) REQUIRE(ours(value) == standard(value));
  }
}

TEST_CASE("numbers are written as the standard library writes them") {
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             10.0,
                             100000.0,
                             1e5,
                             123456.0,
                             1e15,
                             9007199254740991.0,
                             9007199254740992.0,
                             1e16,
                             1e22,
                             1e23,
                             1.7e308,
                             5e-324,
                             2.2250738585072014e-308,
                             0.1,
                             0.5,
                             0.0001,
                             0.00001,
                             0.00012345,
                             1.5e-7,
                             1e-100,
                             1e100,
                             1700000000.123456,
                             1.0 / 3,
                             100.0 / 3,
                             std::numeric_limits<double>::max()}) {
    CHECK(ours(value) == standard(value));
    CHECK(ours(static_cast<float>(value)) == standard(static_cast<float>(value)));
  }
}

TEST_CASE("random bits are written as the standard library writes them") {
  compare_random<double, uint64_t>();
  compare_random<float, uint32_t>();
}

TEST_CASE("numbers as training writes them") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> loss(-2, 2), time(1.6e9, 1.8e9), large(-1e7, 1e7);
  for (int i = 0; i < 100'000; ++i) {
    for (const double value : {loss(random), time(random), large(random), std::round(large(random)),
                               static_cast<double>(static_cast<float>(loss(random)))}) {
      REQUIRE(ours(value) == standard(value));
    }
  }
}

}  // namespace
}  // namespace sonde
