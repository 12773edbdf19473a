#include "codec/json.h"

#include <doctest/doctest.h>

#include <limits>

using namespace sonde;

TEST_CASE("json: nesting puts the commas") {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("a").number(1);
    json.key("b").array([&] {
      json.number(0.5);
      json.array([] {});
      json.object([] {});
      json.string("x");
    });
    json.key("c").null();
  });
  CHECK(out == R"({"a":1,"b":[0.5,[],{},"x"],"c":null})");
}

TEST_CASE("json: numbers") {
  const struct {
    double value;
    const char* text;
  } cases[] = {{1.0, "1.0"},
               {0.1f, "0.10000000149011612"},
               {1e300, "1e+300"},
               {std::numeric_limits<double>::quiet_NaN(), "\"NaN\""},
               {std::numeric_limits<double>::infinity(), "\"Infinity\""},
               {-std::numeric_limits<double>::infinity(), "\"-Infinity\""}};
  for (const auto& c : cases) {
    std::string out;
    append_json_number(out, c.value);
    CHECK(out == c.text);
  }
}

TEST_CASE("json: strings are escaped and always valid UTF-8") {
  std::string out;
  append_json_string(out, std::string("a\"\\\n\x01é\xff", 8));
  CHECK(out == "\"a\\\"\\\\\\n\\u0001é\xEF\xBF\xBD\"");
}

TEST_CASE("json: the same text as UTF-8 and as ASCII") {
  const std::string text = "a\"\\\n\t\b\f\x01 \x7f \xc3\xb6 \xe2\x82\xac \xf0\x9f\x98\x80 \xff.";
  std::string utf8, ascii;
  append_json_string(utf8, text);
  append_ascii_json_string(ascii, text);
  CHECK(
      utf8 ==
      "\"a\\\"\\\\\\n\\t\\b\\f\\u0001 \x7f \xc3\xb6 \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd.\"");
  CHECK(ascii == R"("a\"\\\n\t\b\f\u0001 \u007f \u00f6 \u20ac \ud83d\ude00 \ufffd.")");
}
