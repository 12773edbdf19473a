#include "base/strings.h"

#include <doctest/doctest.h>

using namespace sonde;

TEST_CASE("strings: names sort as people count") {
  CHECK(natural_compare("run2", "run10") < 0);
  CHECK(natural_compare("run10", "run2") > 0);
  CHECK(natural_compare("run", "run1") < 0);
  CHECK(natural_compare("a01", "a1") != 0);
  CHECK(natural_compare("a/1/b", "a/1/b") == 0);
}

TEST_CASE("strings: UTF-8 is checked and repaired") {
  CHECK(is_utf8("naïve → 日本"));
  CHECK_FALSE(is_utf8("\xc0\xaf"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));
  CHECK(to_utf8("a\xff\x62") == "a\xEF\xBF\xBD\x62");
}

TEST_CASE("strings: percent coding") {
  CHECK(percent_decoded("a%20b+c%4", Plus::kSpace) == "a b c%4");
  CHECK(percent_decoded("a+b") == "a+b");
  CHECK(percent_encoded("a b/ü", "/") == "a%20b/%C3%BC");
}

TEST_CASE("strings: sizes for people") {
  CHECK(human_bytes(17) == "17 B");
  CHECK(human_bytes(1234) == "1.23 kB");
  CHECK(human_bytes(2050000000) == "2.05 GB");
  CHECK(human_count(1234567) == "1 234 567");
}
