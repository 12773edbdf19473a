#include "graph/pbtxt_read.h"

#include <doctest/doctest.h>

#include "graph/attributes.h"
#include "graph/model.h"

using namespace sonde;
using namespace sonde::graph;

TEST_CASE("pbtxt: what is printed reads back to the same text") {
  const std::string text = R"(node {
  name: "a"
  op: "Const"
  attr {
    key: "list"
    value {
      list {
        i: 1
        i: -2
      }
    }
  }
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
}
node {
  name: "b\"\n"
  op: "Add"
  input: "a"
  input: "^a"
  device: "/cpu:0"
}
)";
  const auto bytes = from_pbtxt(text, kGraphDef);
  REQUIRE(bytes.has_value());
  CHECK(to_pbtxt(as_bytes(*bytes), kGraphDef).value() == text);
  const auto model = read_model(*bytes);
  REQUIRE(model->nodes.size() == 2);
  const auto found = attributes(model->nodes[0].def);
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == "float32");
  CHECK(found[1].text == "[1, -2]");
}

TEST_CASE("pbtxt: other spellings are read, wrong ones refused with their line") {
  CHECK(from_pbtxt(
            "# graph\nnode: < name: 'x' 'y', op: \"Z\"; input: ['a', 'b'] unknown { deep: 1 } >",
            kGraphDef)
            .has_value());
  const std::string huge = "99999999999999999999999";
  CHECK_FALSE(from_pbtxt("versions { producer: " + huge + " }", kGraphDef).has_value());
  const auto wrong = from_pbtxt("node {\n  name: \"a\"\n", kGraphDef);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().text.find("line 3") != std::string::npos);
  CHECK_FALSE(from_pbtxt("node { name: ", kGraphDef).has_value());
  CHECK_FALSE(from_pbtxt(std::string(5000, '{'), kGraphDef).has_value());
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "node {";
  CHECK_FALSE(from_pbtxt(deep, kGraphDef).has_value());
}
