#include "codec/yaml.h"

#include <doctest/doctest.h>

#include <string>

using namespace sonde;

namespace {

std::string shown(std::string_view yaml) {
  const auto value = read_yaml(yaml);
  return value ? to_text(*value) : "error: " + value.error().text;
}

}  // namespace

TEST_CASE("YAML: maps, lists and scalars become the tree of JSON") {
  CHECK(shown("a: 1\nb:\n  - x\n  - 'y z'\n  - [1.5, {c: null}]\n") ==
        R"({"a":1,"b":["x","y z",[1.5,{"c":null}]]})");
  CHECK(shown("text: |\n  one\n  two\nfolded: >-\n  a\n  b\n") ==
        R"({"text":"one\ntwo\n","folded":"a b"})");
  CHECK(shown("") == "null");
  CHECK(shown("# only a comment\n") == "null");
  CHECK(shown("--- {a: 1}\n--- {b: 2}\n") == R"({"a":1})");
}

TEST_CASE("YAML: words mean what YAML 1.2 says") {
  CHECK(shown("[~, null, true, False, yes, nan, .nan, -.inf]") ==
        R"([null,null,true,false,"yes","nan","NaN","-Infinity"])");
  CHECK(shown("[1e-3, +7, 0x1f, .5, 2., 007, -3, 1_000, 1.2.3, '5', !!str 5]") ==
        R"([1e-3,7,31,0.5,2,7,-3,"1_000","1.2.3","5","5"])");
}

TEST_CASE("YAML: anchors, aliases and merge keys are followed") {
  CHECK(shown("base: &b {lr: 0.1, wd: 0}\nrun:\n  <<: *b\n  lr: 0.5\nagain: *b\n") ==
        R"({"base":{"lr":0.1,"wd":0},"run":{"lr":0.5,"wd":0},"again":{"lr":0.1,"wd":0}})");
  CHECK(shown("a: &x 1\nb: &y 2\nc: {<<: [{k: *x}, {k: *y, l: 3}]}\n") ==
        R"({"a":1,"b":2,"c":{"k":1,"l":3}})");
  CHECK(shown("a: 1\na: 2\n") == R"({"a":2})");
}

TEST_CASE("YAML: what is no YAML says where, what multiplies is refused") {
  CHECK(shown("a: [1, 2\nb: 3\n").starts_with("error: line "));
  CHECK(shown("a: *nobody\n") == "error: line 1, column 4: an alias without its anchor");
  CHECK(shown("? [1, 2]\n: 3\n").find("a key is a map or a list") != std::string::npos);
  CHECK(read_yaml(std::string(100, '[')).error().code == Code::kTooLarge);
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) laughs += ", " + before;
    laughs += "]\n";
  }
  CHECK(read_yaml(laughs).error().code == Code::kTooLarge);
  CHECK(!read_yaml(std::string("a: \0b", 5)));
}

TEST_CASE("YAML: values nest 64 deep, deeper ones are an error") {
  for (const size_t depth : {size_t{63}, size_t{64}, size_t{65}, size_t{5'000}}) {
    CAPTURE(depth);
    CHECK(read_yaml(std::string(depth, '[') + std::string(depth, ']')).has_value() ==
          (depth <= 64));
  }
}
