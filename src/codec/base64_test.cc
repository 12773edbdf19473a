#include "codec/base64.h"

#include <doctest/doctest.h>

using sonde::base64;
using sonde::from_base64;

TEST_CASE("base64: what is left over is padded") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob\xff\xfe") == "Zm9vYv/+");
}

TEST_CASE("base64: read back, either alphabet, with or without padding") {
  for (const std::string text : {"", "f", "fo", "foo", "foob\xff\xfe"}) {
    CHECK(from_base64(base64(text)) == text);
  }
  CHECK(from_base64("Zm9vYv_-") == "foob\xff\xfe");
  CHECK(from_base64("Zg") == "f");
  CHECK_FALSE(from_base64("Z"));
  CHECK_FALSE(from_base64("Zg!="));
}
