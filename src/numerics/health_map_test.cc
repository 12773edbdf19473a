#include "numerics/health_map.h"

#include <doctest/doctest.h>

#include "tests/support/debug_dump.h"

using namespace sonde;
using namespace sonde::numerics;
namespace testing = sonde::testing;
using sonde::testing::DumpMaker;
using sonde::testing::full_health;

TEST_CASE("numerics: the health map has a row a tensor and a column a step") {
  const testing::TempFolder folder;
  DumpMaker maker(folder.path());
  maker.graph("g", "");
  maker.op("g", "Relu", "a");
  maker.op("g", "Log", "b");
  for (int step = 0; step < 1000; ++step) {
    maker.trace("g", "a", 4, full_health(4, 0, 0, 0, 2));
    maker.trace("g", "b", 4, full_health(4, 0, 0, step >= 500 ? 1 : 0));
  }
  auto found = find_dumps({{"", folder.path().string()}});
  REQUIRE(found.size() == 1);
  Dump dump(std::move(found[0]));
  dump.update();
  const auto data = dump.view();
  const Data* const parts[] = {&*data};
  const HealthMap map = health_map(parts, HealthOrder::kWentWrongFirst, 0, 10, 100);
  CHECK(map.total_rows == 2);
  CHECK(map.steps.size() == 100);
  REQUIRE(map.rows.size() == 2);
  CHECK(data->texts.text(data->traced[map.rows[0].traced].op_name) == "b");
  CHECK(map.steps[static_cast<size_t>(map.rows[0].first_bad)] <= 500);
  CHECK(map.rows[1].first_bad == -1);
  CHECK(map.rows[1].cells[0][3].zeros == 0.5f);
  CHECK(map.rows[0].cells[0][99].bad == kNan);
  CHECK(map.rows[0].cells[0][99].wrong == 0.25f);
  const HealthMap page = health_map(parts, HealthOrder::kProgram, 1, 10);
  REQUIRE(page.rows.size() == 1);
  CHECK(data->texts.text(data->traced[page.rows[0].traced].op_name) == "b");
}

TEST_CASE("numerics: recordings of two ranks lie side by side, tensor by tensor") {
  const testing::TempFolder folder;
  const auto loaded = [&](const char* name, bool is_bad, bool has_more) {
    DumpMaker maker(folder.path() / name, "host", 1000, name);
    maker.graph(name, "model");  // ids differ from run to run
    maker.op(name, "Log", "b");
    for (maker.step = 0; maker.step < 3; ++maker.step) {
      maker.trace(name, "b", 4, full_health(4, 0, 0, is_bad && maker.step == 2 ? 1 : 0));
      if (has_more) maker.trace(name, "c", 4, full_health(1, 0, 0, 0));
    }
    auto found = find_dumps({{"", (folder.path() / name).string()}});
    REQUIRE(found.size() == 1);
    auto dump = std::make_unique<Dump>(std::move(found[0]));
    dump->update();
    return dump;
  };
  const auto one = loaded("one", false, false), two = loaded("two", true, true);
  const auto a = one->view(), b = two->view();
  const Data* const parts[] = {&*a, &*b};
  const HealthMap map = health_map(parts, HealthOrder::kWentWrongFirst, 0, 10);
  REQUIRE(map.total_rows == 2);
  CHECK(map.rows[0].first_bad == 2);
  CHECK(map.rows[0].cells[0][2].bad == kNone);
  CHECK(map.rows[0].cells[1][2].bad == kNan);
  CHECK(map.rows[1].part == 1);
  CHECK(map.rows[1].cells[0].empty());
}

TEST_CASE("numerics: a gradient stands below its output") {
  const testing::TempFolder folder;
  DumpMaker maker(folder.path());
  maker.graph("g", "model");
  for (const char* name : {"one", "two", "two/grad", "one/grad"})
    maker.trace("g", name, 4, full_health(4, 0, 0, 0));
  Dump dump(std::move(find_dumps({{"", folder.path().string()}}).at(0)));
  dump.update();
  const auto data = dump.view();
  const Data* const parts[] = {&*data};
  std::vector<std::string> names;
  for (const HealthRow& row : health_map(parts, HealthOrder::kModule, 0, 10).rows)
    names.emplace_back(data->texts.text(data->traced[row.traced].op_name));
  CHECK(names == std::vector<std::string>{"one", "one/grad", "two", "two/grad"});
}
