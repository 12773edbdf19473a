#include "graph/attributes.h"

#include <doctest/doctest.h>

#include "codec/wire.h"

using namespace sonde;

namespace {

std::string node_with(std::string_view key, std::string_view text) {
  std::string out;
  wire::Encoder node(out);
  node.bytes(1, "n");
  node.message(5, [&](wire::Encoder& entry) {
    entry.bytes(1, key);
    entry.message(2, [&](wire::Encoder& value) { value.bytes(2, text); });
  });
  return out;
}

}  // namespace

TEST_CASE("graph: a large attribute is cut at whole characters and keeps its size") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "é";  // two bytes each: the cut falls inside one
  const std::string def = node_with("note", text);
  const auto found = graph::attributes(as_bytes(def));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "note");
  CHECK(found[0].size_bytes > 4000);
  CHECK(found[0].text.size() < graph::kMaxAttributeText + 10);
  CHECK(found[0].text.ends_with("…"));
  const std::string small = node_with("note", "short");
  CHECK(graph::attributes(as_bytes(small))[0].text == "\"short\"");
}
