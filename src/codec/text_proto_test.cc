#include "codec/text_proto.h"

#include <doctest/doctest.h>

using namespace sonde;

TEST_CASE("text proto: fields, lists, comments and strings with escapes") {
  const auto read = parse_text_proto(
      "# a comment\nname: 'a' \"b\\n\"; size: [1, 2]\ninner { path: \"x\" } inner: < path: 'y' >");
  REQUIRE(read);
  CHECK(read->text("name") == "ab\n");
  CHECK(read->text("size") == "2");
  CHECK(read->text("absent").empty());
  REQUIRE(read->all("inner").size() == 2);
  CHECK(read->all("inner")[1]->messages[0].text("path") == "y");
}

TEST_CASE("text proto: what makes no sense is named with its line") {
  for (const char* text : {"a: 1\nb {", "a: 1\nb: 'x", "a: 1\n: 2", "a: 1\n}"}) {
    CAPTURE(text);
    const auto read = parse_text_proto(text);
    REQUIRE(!read);
    CHECK(read.error().text.find("line 2") != std::string::npos);
  }
}

TEST_CASE("text proto: messages nest 32 deep, deeper ones are an error") {
  for (const size_t depth : {size_t{31}, size_t{32}, size_t{33}, size_t{100'000}}) {
    CAPTURE(depth);
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += "a {";
    text.append(depth, '}');
    CHECK(parse_text_proto(text).has_value() == (depth <= 32));
  }
}
