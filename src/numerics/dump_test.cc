#include "numerics/dump.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/debug_dump.h"

using namespace sonde;
using namespace sonde::numerics;
namespace testing = sonde::testing;
using sonde::testing::double_tensor;
using sonde::testing::DumpMaker;
using sonde::testing::full_health;

namespace {

std::vector<DumpFiles> dumps_in(const std::filesystem::path& path) {
  return find_dumps({{"", path.string()}});
}

std::unique_ptr<Dump> load(const std::filesystem::path& path) {
  auto found = dumps_in(path);
  REQUIRE(found.size() == 1);
  auto dump = std::make_unique<Dump>(std::move(found[0]));
  dump->update();
  return dump;
}

// A graph of two ops, of which the second goes wrong in its second run.
DumpMaker small(const std::filesystem::path& path) {
  DumpMaker maker(path);
  maker.source("/project/train.py", {"import x", "y = log(x)"});
  maker.frame("f1", 0, 2, "step");
  maker.graph("g", "step");
  maker.op("g", "Placeholder", "x");
  maker.op("g", "Log", "Log", {"x:0"}, {"f1"});
  maker.trace("g", "x", 4, full_health(3, 0, 0, 0));
  maker.trace("g", "Log", 4, full_health(3, 0, 0, 0));
  maker.trace("g", "x", 4, full_health(3, 0, 0, 0, 1));
  maker.trace("g", "Log", 4, full_health(3, 1, 0, 0));
  maker.execution("__inference_step_1", 4, {full_health(3, 1, 0, 0)}, {{1}, {2}, {"f1"}, "g"});
  return maker;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("numerics: a dump is read whole") {
  const testing::TempFolder folder;
  small(folder.path());
  const auto dump = load(folder.path());
  const auto data = dump->view();
  CHECK(data->sources.size() == 1);
  REQUIRE(data->frames.contains("f1"));
  CHECK(data->frames.at("f1").source == 0);
  CHECK(data->frames.at("f1").line == 2);
  CHECK(data->ops.size() == 2);
  REQUIRE(data->traces.size() == 4);
  CHECK(data->traces[1].step == 0);
  CHECK(data->traces[3].step == 1);
  CHECK(data->traces[3].bad == kNegInf);
  CHECK(data->bad_traces == 1);
  REQUIRE(data->executions.size() == 1);
  CHECK(data->executions[0].bad == kNegInf);
  REQUIRE(data->alerts.size() == 2);
  CHECK(data->alerts[0].trace == 3);
  CHECK(data->alerts[1].execution == 0);
  const Op* op = data->op("g", "Log");
  REQUIRE(op);
  CHECK(op->inputs[0].first == "x");
  CHECK(data->graph("g")->consumers.at("x")[0].op == 1);

  DetailReader reader(*dump);
  const auto detail = reader.trace(0, data->traces[3].offset);
  REQUIRE(detail);
  CHECK(detail->health.neg_inf == 1);
  CHECK(detail->device_name == "/device:CPU:0");
  const auto execution = reader.execution(data->executions[0].offset);
  REQUIRE(execution);
  CHECK(execution->graph_id == "g");
  CHECK(execution->frame_ids == std::vector<std::string>{"f1"});
  const auto lines = reader.source_lines(data->sources[0].offset);
  REQUIRE(lines);
  CHECK(lines->at(1) == "y = log(x)");
}

TEST_CASE("numerics: every debug mode") {
  const testing::TempFolder folder;
  DumpMaker maker(folder.path());
  maker.graph("g", "");
  maker.op("g", "Log", "a");
  maker.trace("g", "a", 1, "");
  maker.trace("g", "a", 2, double_tensor({3, 1}));
  maker.trace("g", "a", 3, double_tensor({3, 4, 0, 2, 1}));
  maker.trace("g", "a", 5, double_tensor({3, 1, 8, 256, 2, 2, 2, 2, 2, 2}));
  maker.trace("g", "a", 7, double_tensor({1, -HUGE_VAL, NAN, 0}));
  maker.trace("g", "a", 4, "");
  const auto dump = load(folder.path());
  const auto data = dump->view();
  REQUIRE(data->traces.size() == 6);
  CHECK(data->traces[0].bad == kNone);
  CHECK(data->traces[1].bad == kSome);
  CHECK(data->traces[2].bad == (kPosInf | kNan));
  CHECK(data->traces[3].bad == kNone);
  CHECK(data->traces[4].bad == (kNegInf | kNan));
  CHECK(data->traces[5].bad == kNone);
  CHECK(data->alerts.size() == 3);
  DetailReader reader(*dump);
  const auto shape = reader.trace(0, data->traces[3].offset);
  REQUIRE(shape);
  CHECK(shape->health.rank == 8);
  CHECK(shape->health.shape.size() == 6);  // of eight dimensions the last six are written
  const auto whole = reader.trace(0, data->traces[4].offset);
  REQUIRE(whole);
  CHECK(!whole->values);
  CHECK(whole->health.zero == 1);
  CHECK(whole->numbers->max == 1);
}

TEST_CASE("numerics: several hosts, several runs, any depth") {
  const testing::TempFolder folder;
  small(folder.path() / "a" / "b");
  DumpMaker later(folder.path() / "c", "worker", 2000, "one");
  DumpMaker first(folder.path() / "c", "chief", 1000, "one");
  first.graph("g", "");
  first.op("g", "Log", "a");
  later.trace("g", "a", 2, double_tensor({3, 1}));
  first.trace("g", "a", 2, double_tensor({3, 0}));
  DumpMaker other(folder.path() / "c", "stranger", 3000, "two");
  const auto found = dumps_in(folder.path());
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "a/b");
  CHECK(found[1].name == "c");
  REQUIRE(found[1].sets.size() == 2);
  CHECK(found[1].sets[0].host == "chief");
  CHECK(found[2].run_id == "two");
  Dump dump(found[1]);
  dump.update();
  const auto data = dump.view();
  REQUIRE(data->traces.size() == 2);
  CHECK(data->traces[0].bad == kNone);
  CHECK(data->traces[1].bad == kSome);
  CHECK(data->traced[data->traces[1].traced].file == 1);
}

TEST_CASE("numerics: files grow, are torn and are replaced") {
  const testing::TempFolder folder;
  DumpMaker maker = small(folder.path());
  auto dump = load(folder.path());
  CHECK(dump->view()->traces.size() == 4);
  const std::string all = bytes_of(maker.path("graph_execution_traces"));
  maker.append("graph_execution_traces", all.substr(0, 20));  // half a record
  dump->update();
  CHECK(dump->view()->traces.size() == 4);
  maker.append("graph_execution_traces", all.substr(20));
  dump->update();
  CHECK(dump->view()->traces.size() == 8);
  CHECK(dump->damages().empty());
  std::filesystem::remove(maker.path("graph_execution_traces"));
  maker.append("graph_execution_traces", all);
  dump->update();
  CHECK(dump->view()->traces.size() == 4);
  CHECK(dump->view()->ops.size() == 2);
}

TEST_CASE("numerics: one damaged byte loses one record") {
  const testing::TempFolder folder;
  DumpMaker maker = small(folder.path());
  const std::string good = bytes_of(maker.path("graph_execution_traces"));
  const auto rewrite = [&](const std::string& bytes) {
    std::filesystem::remove(maker.path("graph_execution_traces"));
    maker.append("graph_execution_traces", bytes);
  };
  for (size_t at = 0; at < good.size(); at += 3) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    rewrite(flipped);
    CHECK(load(folder.path())->view()->traces.size() == 3);
    std::string cut = good;
    cut.erase(at, 1);
    rewrite(cut);
    const size_t left = load(folder.path())->view()->traces.size();
    CHECK(left == 3);
  }
  for (size_t length = 0; length < good.size(); length += 7) {
    rewrite(good.substr(0, length));
    CHECK(load(folder.path())->view()->traces.size() <= 3);
  }
}

TEST_CASE("numerics: graphs that enclose each other, ops of no graph, frames of no file") {
  const testing::TempFolder folder;
  DumpMaker maker(folder.path());
  maker.graph("a", "", "b");
  maker.graph("b", "", "a");
  maker.op("nowhere", "Log", "x", {"y:99999999999", "z", ":", "w:x"});
  maker.op("nowhere", "Log", "x");
  maker.frame("f", 7, 1, "f");
  maker.trace("gone", "x", 4, "\xff\xff");
  const auto dump = load(folder.path());
  const auto data = dump->view();
  CHECK(data->graph_path("a").size() <= 1002);
  CHECK(data->graph_path("unknown").size() == 1);
  CHECK(data->op("nowhere", "x") != nullptr);
  CHECK(data->frames.at("f").source == UINT32_MAX);
  CHECK(data->traces.size() == 1);
  CHECK(dump->damages().size() == 1);  // the second op of one name
}
