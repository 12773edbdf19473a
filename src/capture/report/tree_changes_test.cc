#include "capture/report/tree_changes.h"

#include <doctest/doctest.h>

using namespace sonde::capture;

namespace {

Json node(std::string_view name, int time, Json::Array children = {}) {
  Json out;
  out.set("name", name).set("time", time);
  if (!children.empty()) out.set("children", Json(std::move(children)));
  return out;
}

}  // namespace

TEST_CASE("tree changes: nodes meet by name, in order; what one side lacks is null") {
  const Json now = node("root", 10, {node("dot", 7), node("dot", 2), node("new", 1)});
  const Json before = node("root", 12, {node("old", 3), node("dot", 6), node("dot", 3)});
  CHECK(tree_changes(now, before).dump() ==
        R"({"name":"root","time":[10,12],"children":[{"name":"dot","time":[7,6]},)"
        R"({"name":"dot","time":[2,3]},{"name":"new","time":[1,null]},)"
        R"({"name":"old","time":[null,3],"gone":true}]})");
}

TEST_CASE("tree changes: a branch on one side only, and depth without end") {
  const Json leaf = node("root", 1), branch = node("root", 1, {node("child", 2)});
  CHECK(tree_changes(branch, leaf).dump() ==
        R"({"name":"root","time":[1,1],"children":[{"name":"child","time":[2,null]}]})");
  CHECK(
      tree_changes(leaf, branch).dump() ==
      R"({"name":"root","time":[1,1],"children":[{"name":"child","time":[null,2],"gone":true}]})");
  Json deep = node("end", 1);
  for (int i = 0; i < 300; ++i) deep = node("level", i, {deep});  // beyond what is compared
  CHECK(tree_changes(deep, deep).dump().size() > 1000);
}
