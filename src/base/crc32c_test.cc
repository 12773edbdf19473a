#include "base/crc32c.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace sonde;

TEST_CASE("crc32c: gives the published value of the check string") {
  CHECK(crc32c(as_bytes("123456789")) == 0xE3069283u);
  CHECK(crc32c_plain(as_bytes("123456789")) == 0xE3069283u);
}

TEST_CASE("crc32c: instruction and table agree on random input of every length") {
  std::mt19937 random(7);
  std::vector<std::byte> data(20000);
  for (auto& b : data) b = static_cast<std::byte>(random());
  for (size_t n = 0; n < data.size(); n = n < 300 ? n + 1 : n + 977) {
    const Bytes part = Bytes(data).subspan(n % 13, std::min(n, data.size() - 13));
    REQUIRE(crc32c(part) == crc32c_plain(part));
  }
}

TEST_CASE("crc32c: can be computed in pieces") {
  const std::string_view text = "a record cut in two";
  CHECK(crc32c(as_bytes(text.substr(5)), crc32c(as_bytes(text.substr(0, 5)))) ==
        crc32c(as_bytes(text)));
}
