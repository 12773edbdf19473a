#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "log/query/alerts/condition.h"
#include "log/query/alerts/rules.h"

namespace sonde::query {
namespace {

Points made(size_t n, auto fn) {
  Points points;
  for (size_t i = 0; i < n; ++i) {
    points.steps.push_back(static_cast<Step>(i));
    points.walls.push_back(static_cast<double>(i));
    points.values.push_back(fn(static_cast<double>(i)));
  }
  return points;
}

}  // namespace

TEST_CASE("alerts: expressions") {
  const auto one = parse_expression(" max(val/acc) >= 0.9 and loss < 1e-3 ");
  REQUIRE(one);
  REQUIRE(one->parts.size() == 2);
  CHECK(one->parts[0].what == "max");
  CHECK(one->parts[0].tag == "val/acc");
  CHECK(one->parts[0].op == ">=");
  CHECK(one->parts[1].tag == "loss");
  CHECK(one->parts[1].number == 1e-3);
  CHECK(!one->any);
  CHECK(parse_expression("a > 1 or b > 2")->any);
  for (const char* bad :
       {"", "loss", "loss >", "> 3", "loss = 3", "a > x", "a > 1 and b > 2 or c > 3"})
    CHECK_MESSAGE(!parse_expression(bad), bad);
}

TEST_CASE("alerts: throughput drops, but neither one slow step nor logging less often is a drop") {
  const CurveLimits limits;
  const auto timed = [](size_t n, auto seconds_of) {
    Points points = made(n, [](double) { return 1.0; });
    double wall = 0;
    for (size_t i = 0; i < n; ++i) points.walls[i] = wall += seconds_of(i);
    return points;
  };
  CHECK(!look_at("throughput", timed(300, [](size_t) { return 0.5; }), limits));
  CHECK(!look_at("throughput", timed(300, [](size_t i) { return i == 295 ? 60.0 : 0.5; }), limits));
  CHECK(!look_at("throughput", timed(40, [](size_t i) { return i > 20 ? 5.0 : 0.5; }), limits));
  CHECK(!look_at("throughput", timed(300, [](size_t) { return 0.0; }), limits));
  const auto slow =
      look_at("throughput", timed(300, [](size_t i) { return i >= 250 ? 2.0 : 0.5; }), limits);
  REQUIRE(slow);
  CHECK(slow->text == "0.5 steps a second lately, 2 before");
  Points rarer = timed(300, [](size_t i) { return i >= 250 ? 5.0 : 0.5; });
  for (size_t i = 250; i < 300; ++i) rarer.steps[i] = static_cast<Step>(250 + 10 * (i - 250));
  CHECK(!look_at("throughput", rarer, limits));
}

TEST_CASE("alerts: words about curves fire where they should and are quiet elsewhere") {
  CurveLimits limits;
  limits.now = 300;
  const Points falling = made(300, [](double i) { return 10 / (i + 1); });
  for (const char* word : {"nan", "divergence", "stall"}) CHECK(!look_at(word, falling, limits));
  Points broken = falling;
  broken.values[42] = std::nan("");
  REQUIRE(look_at("nan", broken, limits));
  CHECK(look_at("nan", broken, limits)->step == 42);
  const Points back =
      made(300, [](double i) { return i < 150 ? 10 - i / 20 : 3 + (i - 150) / 10; });
  REQUIRE(look_at("divergence", back, limits));
  CHECK(look_at("divergence", back, limits)->step == 299);
  CurveLimits higher = limits;
  higher.higher_is_better = true;
  CHECK(!look_at("divergence", made(300, [](double i) { return i; }), higher));
  const Points flat = made(500, [](double i) { return i < 100 ? 100 - i : 1.0; });
  CHECK(look_at("plateau", flat, limits));
  CHECK(!look_at("plateau", falling, limits));
  limits.now = 299 + 59;
  CHECK(!look_at("stall", falling, limits));
  limits.now = 299 + 61;
  CHECK(look_at("stall", falling, limits));
  CHECK(!look_at("nan", {}, limits));
}

TEST_CASE("alerts: rules of a file, and what is wrong with one") {
  const auto rules = read_rules(
      "broken:\n  when: nan\n  tag: loss\nlow:\n  when: val/acc < 0.5\n  runs: ^exp\nslow:\n  "
      "when: "
      "plateau\n  patience: 50\n");
  REQUIRE(rules);
  REQUIRE(rules->size() == 3);
  CHECK((*rules)[0].when == "nan");
  CHECK((*rules)[1].expression);
  CHECK((*rules)[2].limits.patience == 50);
  CHECK(read_rules("a:\n  when: often\n").error().text.find("rule 'a'") != std::string::npos);
  CHECK(!read_rules("a:\n  tag: x\n"));
  CHECK(!read_rules("a:\n  when: nan\n  tag: '['\n"));
  CHECK(!read_rules("plain: text\n"));
  CHECK(read_rules("")->empty());
}

TEST_CASE("alerts: a rule keeps what was written and remarks on what is no setting") {
  const auto rules = read_rules("a.b:\n  when: spike\n  per: group\n  min_z: 5\n  patiance: 3\n");
  REQUIRE(rules);
  REQUIRE(rules->size() == 1);
  const AlertRule& rule = rules->front();
  CHECK(rule.name == "a.b");
  CHECK(rule.per_group);
  CHECK(rule.limits.min_z == 5);
  CHECK(rule.remark.find("'patiance'") != std::string::npos);
  CHECK(std::ranges::find(rule.fields, std::pair<std::string, std::string>("per", "group")) !=
        rule.fields.end());
  CHECK(!read_rules("a:\n  when: nan\n  per: run of two\n"));
}

}  // namespace sonde::query
