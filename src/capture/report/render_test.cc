#include "capture/report/render.h"

#include <doctest/doctest.h>

using namespace sonde;
using namespace sonde::capture;

TEST_CASE("render: a report as neutral tables and scalars") {
  Report report;
  Table& table = report.table("kernels", "Kernels");
  table.columns = {{"name", "Name", Type::kText}, {"total", "Total", Type::kNumber, "us"}};
  table.rows = {{std::string("a"), 1.5}, {std::string("b"), Cell{}}};
  table.property("device", "GPU");
  report.figure("steps", "Steps", int64_t{3});
  CHECK(
      to_neutral(report, "kernel_stats", "x") ==
      R"({"neutral":1,"tool":"kernel_stats","capture":"x","tables":{"kernels":{"columns":["name","total"],)"
      R"("rows":[["a",1.5],["b",null]]}},"scalars":{"kernels.device":"GPU","steps":3}})");
}

TEST_CASE("render: documents become paths, rows and child tables") {
  Report report;
  Json row = Json::object();
  row.set("id", 1).set("stats", Json::object().set("bytes", "7"));
  row.set("children", Json(Json::Array{Json::object().set("x", 2)}));
  row.set("list", Json(Json::Array{1, 2}));
  report.document = Json::object();
  report.document->set("a", Json::object().set("b", 4)).set("rows", Json(Json::Array{row}));
  CHECK(
      to_neutral(report, "t", "c") ==
      R"({"neutral":1,"tool":"t","capture":"c","tables":{"rows":{"columns":["id","stats.bytes","list"],)"
      R"("rows":[[1,"7","[1,2]"]]},"rows/children":{"columns":["_parent","x"],"rows":[[0,2]]}},)"
      R"("scalars":{"a/b":4}})");
}

TEST_CASE("render: with a baseline, numbers are pairs and rows are matched by their text") {
  Report now, then;
  for (Report* report : {&now, &then}) {
    Table& table = report->table("ops", "Ops");
    table.columns = {{"op", "Op", Type::kText}, {"ms", "Time", Type::kNumber, "ms"}};
  }
  now.tables[0].rows = {{std::string("a"), 2.0}, {std::string("new"), 1.0}};
  then.tables[0].rows = {{std::string("b"), 9.0}, {std::string("a"), 3.0}};
  const std::string json = to_v1_json(now, 1000, &then);
  CHECK(json.find(R"("rows":[["a",[2.0,3.0]],["new",[1.0,null]]])") != std::string::npos);
  CHECK(json.find(R"("gone":[["b",[null,9.0]]])") != std::string::npos);
  CHECK(to_v1_json(now).find("gone") == std::string::npos);
}

TEST_CASE("render: with a baseline, steps are matched by their number, not by their details") {
  Report now, then;
  for (Report* report : {&now, &then}) {
    Table& table = report->table("step_times", "Step times");
    table.columns = {{"stepnum", "Step", Type::kText},
                     {"ms", "Time", Type::kNumber, "ms"},
                     {"tooltip", "Details", Type::kText}};
  }
  now.tables[0].rows = {{std::string("7"), 2.0, std::string("step 7, 2 ms")}};
  then.tables[0].rows = {{std::string("6"), 4.0, std::string("step 6, 4 ms")},
                         {std::string("7"), 3.0, std::string("step 7, 3 ms")}};
  const std::string json = to_v1_json(now, 1000, &then);
  CHECK(json.find(R"("rows":[["7",[2.0,3.0],"step 7, 2 ms"]])") != std::string::npos);
  CHECK(json.find(R"("gone":[["6",[null,4.0],"step 6, 4 ms"]])") != std::string::npos);
}

TEST_CASE(
    "render: with a baseline, equal rows pair in order and rows without text by their place") {
  Report now, then;
  for (Report* report : {&now, &then}) {
    report->table("ops", "Ops").columns = {{"op", "Op", Type::kText}, {"ms", "Time"}};
    report->table("times", "Times").columns = {{"at", "At"}, {"bytes", "Bytes"}};
  }
  now.tables[0].rows = {{std::string("a"), 1.0}, {std::string("a"), 2.0}, {std::string("a"), 3.0}};
  then.tables[0].rows = {{std::string("a"), 4.0}, {std::string("a"), 5.0}};
  now.tables[1].rows = {{int64_t{2}, 1.0}};
  then.tables[1].rows = {{int64_t{1}, 7.0}, {int64_t{2}, 8.0}};
  const std::string json = to_v1_json(now, 1000, &then);
  CHECK(json.find(R"([["a",[1.0,4.0]],["a",[2.0,5.0]],["a",[3.0,null]]])") != std::string::npos);
  CHECK(json.find(R"("rows":[[[2,2],[1.0,8.0]]])") != std::string::npos);
}

TEST_CASE("render: every tool is listed once and found by its id") {
  for (const Tool* tool : all_tools()) {
    CHECK(find_tool(tool->id) == tool);
    CHECK((tool->missing != nullptr));
  }
}
