#include "codec/base64.h"

#include <doctest/doctest.h>

using sonde::base64;

TEST_CASE("base64: what is left over is padded") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob\xff\xfe") == "Zm9vYv/+");
}
