#include "graph/pbtxt.h"

#include <doctest/doctest.h>

#include <functional>

#include "codec/wire.h"
#include "graph/graph_def.h"
#include "graph/keras.h"

namespace sonde::graph {
namespace {

using wire::Encoder;

std::string text_of(const std::string& graph) {
  const auto text = to_pbtxt(as_bytes(graph), kGraphDef);
  REQUIRE(text.has_value());
  return *text;
}

void attribute(Encoder& node, std::string_view key, const std::function<void(Encoder&)>& value) {
  node.message(5, [&](Encoder& entry) {
    entry.bytes(1, key);
    entry.message(2, value);
  });
}

TEST_CASE("pbtxt: fields by number, maps in protobuf's order, strings escaped") {
  std::string graph;
  Encoder(graph).message(1, [](Encoder& node) {
    attribute(node, "T", [](Encoder& value) { value.varint(6, 1); });
    attribute(node, "seed2", [](Encoder& value) { value.varint(3, uint64_t(-1)); });
    attribute(node, "seed", [](Encoder& value) { value.varint(5, 0); });
    attribute(node, "s", [](Encoder& value) { value.bytes(2, "a\"'\\\n\x01\xc3\xa9"); });
    node.bytes(3, "in\xc3\xa9");
    node.bytes(1, "n");
  });
  CHECK(text_of(graph) ==
        "node {\n  name: \"n\"\n  input: \"in\xc3\xa9\"\n"
        "  attr {\n    key: \"s\"\n    value {\n      s: \"a\\\"\\'\\\\\\n\\001\\303\\251\"\n    "
        "}\n  }\n"
        "  attr {\n    key: \"seed\"\n    value {\n      b: false\n    }\n  }\n"
        "  attr {\n    key: \"seed2\"\n    value {\n      i: -1\n    }\n  }\n"
        "  attr {\n    key: \"T\"\n    value {\n      type: DT_FLOAT\n    }\n  }\n}\n");
}

TEST_CASE("pbtxt: floats have the digits protobuf prints") {
  struct Case {
    float value;
    std::string_view text;
  };
  const Case cases[] = {{0.1f, "0.1"},
                        {1.0f, "1"},
                        {1e-7f, "1e-07"},
                        {1.0f / 3, "0.333333343"},
                        {123456789.0f, "123456792"},
                        {-0.0f, "-0"}};
  for (const Case& item : cases) {
    std::string graph;
    Encoder(graph).message(1, [&](Encoder& node) {
      attribute(node, "f", [&](Encoder& value) { value.real32(4, item.value); });
    });
    CHECK(text_of(graph).find("f: " + std::string(item.text) + "\n") != std::string::npos);
  }
}

TEST_CASE("pbtxt: malformed and endlessly nested messages are refused") {
  CHECK(to_pbtxt(as_bytes("\x0a\x7f"), kGraphDef).error().code == Code::kCorrupt);
  std::string nested;  // AttrValue { func { attr { value { func ...
  for (int i = 0; i < 200; ++i) {
    std::string outer;
    Encoder(outer).message(10, [&](Encoder& function) {
      function.message(2, [&](Encoder& entry) { entry.bytes(2, nested); });
    });
    nested = outer;
  }
  std::string graph;
  Encoder(graph).message(
      1, [&](Encoder& node) { node.message(5, [&](Encoder& entry) { entry.bytes(2, nested); }); });
  CHECK(to_pbtxt(as_bytes(graph), kGraphDef).error().code == Code::kTooLarge);
}

TEST_CASE("graph_def: large attributes are replaced by their names") {
  std::string graph;
  Encoder(graph).message(1, [](Encoder& node) {
    node.bytes(1, "n");
    attribute(node, "big", [](Encoder& value) { value.bytes(2, std::string(2000, 'x')); });
    attribute(node, "small", [](Encoder& value) { value.bytes(2, "y"); });
  });
  const auto slim = without_large_attributes(as_bytes(graph), 1024, "_too_large_attrs");
  REQUIRE(slim.has_value());
  CHECK(text_of(*slim) ==
        "node {\n  name: \"n\"\n  attr {\n    key: \"small\"\n    value {\n      s: \"y\"\n    }\n "
        " }\n"
        "  attr {\n    key: \"_too_large_attrs\"\n    value {\n      list {\n        s: \"big\"\n  "
        "    }\n    }\n  }\n}\n");
}

TEST_CASE("keras: a sequential model is a chain") {
  const auto graph = keras_to_graph(
      R"({"class_name":"Sequential","config":{"name":"m","layers":[
        {"class_name":"InputLayer","config":{"name":"in","dtype":"float32"}},
        {"class_name":"Dense","config":{"name":"d","dtype":{"config":{"name":"float32"}}}}]}})");
  REQUIRE(graph.has_value());
  const std::string text = text_of(*graph);
  CHECK(text.find("name: \"m/d\"\n  input: \"m/in\"\n") != std::string::npos);
  CHECK(text.find("key: \"keras_class\"\n    value {\n      s: \"Dense\"") != std::string::npos);
  CHECK(keras_to_graph("{}").error().code == Code::kInvalid);
}

TEST_CASE("keras: edges of both versions are read") {
  for (const std::string inbound :
       {R"([[["a",0,0,{}]]])", R"([{"args":[{"config":{"keras_history":["a",0,0]}}]}])"}) {
    const auto graph = keras_to_graph(
        R"({"config":{"name":"m","input_layers":[["a",0,0]],"output_layers":[["b",0,0]],"layers":[
          {"class_name":"InputLayer","config":{"name":"a"},"inbound_nodes":[]},
          {"class_name":"Dense","config":{"name":"b"},"inbound_nodes":)" +
        inbound + "}]}}");
    REQUIRE(graph.has_value());
    CHECK(text_of(*graph).find("name: \"m/b\"\n  input: \"m/a\"\n") != std::string::npos);
  }
}

}  // namespace
}  // namespace sonde::graph
