#include "codec/json_read.h"

#include <doctest/doctest.h>

#include <cmath>

namespace sonde {

TEST_CASE("read_json: a document is written back as it was, numbers keep their digits") {
  for (const char* text :
       {"{}", "[]", "null", "true", R"("a\nb")", R"({"a":[1,2.50,-0,1e300],"b":{"c":null}})",
        "12345678901234567890", R"(["é","\u0001"])"}) {
    const auto value = read_json(text);
    REQUIRE(value);
    CHECK(to_text(*value) == text);
  }
}

TEST_CASE("read_json: what is not JSON is refused with the place") {
  struct Case {
    const char* text;
    Code code;
  };
  for (const Case& c : {Case{"", Code::kInvalid},
                        {"{", Code::kInvalid},
                        {"[1,]", Code::kInvalid},
                        {"{}x", Code::kInvalid},
                        {"\"\xff\"", Code::kInvalid},
                        {"nan", Code::kInvalid}}) {
    const auto value = read_json(c.text);
    CAPTURE(c.text);
    REQUIRE(!value);
    CHECK(value.error().code == c.code);
  }
  CHECK(read_json(std::string(100000, '[')).error().code == Code::kTooLarge);
}

TEST_CASE("JsonValue: numbers as the API writes them") {
  const auto number = [](const char* text) { return read_json(text)->number(); };
  CHECK(number("2.5") == 2.5);
  CHECK(std::isnan(*number("\"NaN\"")));
  CHECK(number("\"-Infinity\"") == -INFINITY);
  CHECK(number("-1e-999") == 0.0);
  CHECK(!number("\"x\""));
  CHECK(read_json("\"9007199254740993\"")->integer() == 9007199254740993);
  CHECK(read_json("1e3")->integer() == 1000);
  CHECK(!read_json("1.5")->integer());
  CHECK(!read_json("1e300")->integer());
}

TEST_CASE("JsonValue: the last of equal names wins and null counts as absent") {
  const auto value = read_json(R"({"a":1,"a":2,"b":null})");
  CHECK(value->find("a")->integer() == 2);
  CHECK(value->find("b") == nullptr);
  CHECK(value->find("c") == nullptr);
}

TEST_CASE("JSON: values nest 64 deep, deeper ones are an error with its place") {
  for (const size_t depth : {size_t{63}, size_t{64}, size_t{65}, size_t{100'000}}) {
    CAPTURE(depth);
    CHECK(read_json(std::string(depth, '[') + std::string(depth, ']')).has_value() ==
          (depth <= 64));
  }
}

}  // namespace sonde
