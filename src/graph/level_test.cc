#include "graph/level.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/wire.h"

using namespace sonde;
using namespace sonde::graph;

namespace {

struct Def {
  std::string name, op;
  std::vector<std::string> inputs;
};

std::string graph_def(const std::vector<Def>& nodes) {
  std::string out;
  wire::Encoder graph(out);
  for (const Def& def : nodes) {
    graph.message(1, [&](wire::Encoder& node) {
      node.bytes(1, def.name);
      node.bytes(2, def.op);
      for (const auto& input : def.inputs) node.bytes(3, input);
    });
  }
  return out;
}

const PictureNode* find(const Picture& picture, const Hierarchy& hierarchy, std::string_view path) {
  for (const PictureNode& node : picture.nodes) {
    if (hierarchy.items[node.item].path == path) return &node;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("graph: names become scopes, a node that is a scope too moves into it") {
  const auto model =
      read_model(graph_def({{"a", "Add", {}}, {"a/b", "Mul", {"a:0", "^c"}}, {"c", "Relu", {}}}));
  REQUIRE(model);
  CHECK(model->nodes[0].name == "a/(a)");
  CHECK(model->find("a") == 0);
  REQUIRE(model->edges.size() == 2);
  CHECK(model->edges[0].from == 0);
  CHECK(model->edges[1].kind == EdgeKind::kControl);
}

TEST_CASE("graph: five numbered equal operations form a series, four do not") {
  std::vector<Def> defs;
  for (int i = 0; i < 5; ++i)
    defs.push_back({"s/add" + (i ? "_" + std::to_string(i) : std::string()), "Add", {}});
  for (int i = 0; i < 4; ++i) defs.push_back({"s/mul_" + std::to_string(i), "Mul", {}});
  const auto model = read_model(graph_def(defs));
  const Hierarchy hierarchy = build_hierarchy(*model);
  const uint32_t series = hierarchy.find("s/add_[0-4]");
  REQUIRE(series != kNone);
  CHECK(hierarchy.items[series].ops == 5);
  CHECK(hierarchy.items[hierarchy.find("s")].children.size() == 5);
}

TEST_CASE("graph: folded scopes carry the edges of what is inside; opening one shows it") {
  const auto model = read_model(graph_def({{"in", "Placeholder", {}},
                                           {"layer/w", "Const", {}},
                                           {"layer/mul", "MatMul", {"in", "layer/w"}},
                                           {"layer/relu", "Relu", {"layer/mul"}},
                                           {"out", "Softmax", {"layer/relu"}}}));
  const Hierarchy hierarchy = build_hierarchy(*model);
  const Picture folded = draw_level(*model, hierarchy, {});
  CHECK(folded.nodes.size() == 3);
  CHECK(folded.edges.size() == 2);
  CHECK(find(folded, hierarchy, "layer")->constants == 1);

  const Picture open = draw_level(*model, hierarchy, {0, {hierarchy.find("layer")}, {}, {}});
  CHECK(open.nodes.size() == 5);
  CHECK(open.edges.size() == 3);
  const PictureNode *box = find(open, hierarchy, "layer"),
                    *inner = find(open, hierarchy, "layer/mul");
  CHECK(std::abs(inner->x - box->x) + inner->width / 2 <= box->width / 2);
  CHECK(std::abs(inner->y - box->y) + inner->height / 2 <= box->height / 2);
  CHECK(find(open, hierarchy, "in")->y < box->y);
}

TEST_CASE("graph: a NoOp and hubs go aside and leave stubs") {
  std::vector<Def> defs{{"hub", "Placeholder", {}}, {"done", "NoOp", {}}};
  for (int i = 0; i < 20; ++i) {
    defs.push_back(
        {"n" + std::string(1, static_cast<char>('a' + i)), "Op" + std::to_string(i), {"hub"}});
    defs[1].inputs.push_back("^" + defs.back().name);
  }
  const auto model = read_model(graph_def(defs));
  const Hierarchy hierarchy = build_hierarchy(*model);
  const Picture picture = draw_level(*model, hierarchy, {});
  CHECK(find(picture, hierarchy, "hub")->is_aside);
  CHECK(find(picture, hierarchy, "done")->is_aside);
  CHECK(find(picture, hierarchy, "na")->in.size() == 1);
  CHECK(find(picture, hierarchy, "hub")->out.size() == kMaxStubs);
  CHECK(find(picture, hierarchy, "hub")->more_out == 15);
  const Picture kept = draw_level(*model, hierarchy, {0, {}, {}, {hierarchy.find("hub")}});
  CHECK_FALSE(find(kept, hierarchy, "hub")->is_aside);
}

TEST_CASE("graph: hostile graphs are drawn or refused, never fatal") {
  std::string deep(3000, '/');
  for (size_t i = 0; i < deep.size(); i += 2) deep[i] = 'a';
  const auto model = read_model(graph_def({{deep, "X", {"nobody", deep}},
                                           {"a/(a)", "X", {}},
                                           {"a", "X", {}},
                                           {"a", "Y", {}},
                                           {"", "Z", {}}}));
  REQUIRE(model);
  CHECK(model->problems.size() == 3);
  const Hierarchy hierarchy = build_hierarchy(*model);
  CHECK(draw_level(*model, hierarchy, {0, {hierarchy.find("a")}, {}, {}}).nodes.size() >= 2);
  CHECK_FALSE(read_model("no graph at all"));
  CHECK(read_model("")->nodes.empty());
}

TEST_CASE("graph: tracing inputs follows every edge backwards once") {
  const auto model = read_model(graph_def({{"a", "A", {}},
                                           {"b", "B", {"a", "c"}},
                                           {"c", "C", {"b"}},
                                           {"d", "D", {"c"}},
                                           {"e", "E", {}}}));
  CHECK(traced_inputs(*model, 3) == std::vector<uint32_t>{0, 1, 2});
}

TEST_CASE("graph: a picture of 100 000 nodes holds only what is visible") {
  std::vector<Def> defs;
  std::string before;
  for (int layer = 0; layer < 1000; ++layer) {
    for (int i = 0; i < 100; ++i) {
      std::string name = "net/stage_" + std::to_string(layer / 100) + "/layer_" +
                         std::to_string(layer) + "/op_" + std::to_string(i % 7) + "_" +
                         std::to_string(i);
      defs.push_back({name, i % 7 ? "Mul" : "Add",
                      before.empty() ? std::vector<std::string>{} : std::vector{before}});
      before = std::move(name);
    }
  }
  const auto model = read_model(graph_def(defs));
  REQUIRE(model);
  CHECK(model->nodes.size() == 100'000);
  const Hierarchy hierarchy = build_hierarchy(*model);
  CHECK(draw_level(*model, hierarchy, {}).nodes.size() == 1);
  const uint32_t net = hierarchy.find("net");
  REQUIRE(net != kNone);
  LevelQuery query;
  query.open = {net};
  const Picture opened = draw_level(*model, hierarchy, query);
  CHECK(opened.nodes.size() <= 11);  // the scope, and its ten stages or their series
  CHECK(find(opened, hierarchy, "net") != nullptr);
  CHECK(find(opened, hierarchy, "net/stage_0/layer_0") == nullptr);
}
