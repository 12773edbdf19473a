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
  const HealthMap map = health_map(*data, HealthOrder::kWentWrongFirst, 0, 10, 100);
  CHECK(map.total_rows == 2);
  CHECK(map.steps.size() == 100);
  REQUIRE(map.rows.size() == 2);
  CHECK(data->texts.text(data->traced[map.rows[0].traced].op_name) == "b");
  CHECK(map.steps[static_cast<size_t>(map.rows[0].first_bad)] <= 500);
  CHECK(map.rows[1].first_bad == -1);
  CHECK(map.rows[1].cells[3].zeros == 0.5f);
  CHECK(map.rows[0].cells[99].bad == kNan);
  const HealthMap page = health_map(*data, HealthOrder::kProgram, 1, 10);
  REQUIRE(page.rows.size() == 1);
  CHECK(data->texts.text(data->traced[page.rows[0].traced].op_name) == "b");
}
