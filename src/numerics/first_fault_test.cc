#include "numerics/first_fault.h"

#include <doctest/doctest.h>

#include "io/file.h"
#include "tests/support/debug_dump.h"

using namespace sonde;
using namespace sonde::numerics;
namespace testing = sonde::testing;
using sonde::testing::DumpMaker;
using sonde::testing::full_health;

namespace {

std::optional<Fault> fault_in(const std::filesystem::path& path) {
  auto found = find_dumps({{"", path.string()}});
  REQUIRE(found.size() == 1);
  Dump dump(std::move(found[0]));
  dump.update();
  return first_fault(dump);
}

DumpMaker sources(const std::filesystem::path& path) {
  DumpMaker maker(path);
  maker.source("/project/loss.py");
  maker.source("/usr/lib/python3.11/site-packages/tensorflow/ops.py");
  maker.frame("user", 0, 42, "loss");
  maker.frame("library", 1, 7, "log");
  maker.graph("g", "step");
  return maker;
}

}  // namespace

TEST_CASE("numerics: the op with finite inputs is named, not those that pass it on") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.op("g", "Placeholder", "x");
  maker.op("g", "Softmax", "probabilities", {"x:0"}, {"user", "library"});
  maker.op("g", "Log", "log", {"probabilities:0"}, {"user", "library"});
  maker.op("g", "Mean", "mean", {"log:0"}, {"user"});
  for (int run = 0; run < 3; ++run) {
    const double bad = run == 2 ? 1 : 0;
    maker.trace("g", "x", 4, full_health(4, 0, 0, 0));
    maker.trace("g", "probabilities", 4, full_health(4, 0, 0, 0, bad));
    maker.trace("g", "mean", 4, full_health(1, 0, 0, bad));  // written before what made it
    maker.trace("g", "log", 4, full_health(4, bad, 0, 0));
  }
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(sentence(*fault) ==
        "First infinity: `Log` at loss.py:42 in its run 3, from `probabilities`, which reached "
        "0.0; 1 tensor followed within the step");
  REQUIRE(fault->chain.size() == 3);
  CHECK(fault->chain[2].op_name == "mean");
  CHECK(!advice(*fault).empty());
}

TEST_CASE("numerics: masks of infinity are well until an op makes a NaN of them") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.op("g", "Const", "low");
  maker.op("g", "Placeholder", "x");
  maker.op("g", "SelectV2", "masked", {"x:0", "low:0"});
  maker.op("g", "Softmax", "attention", {"masked:0"}, {"user"});
  const auto step = [&](double nan) {
    maker.trace("g", "low", 4, full_health(1, 1, 0, 0));
    maker.trace("g", "x", 4, full_health(4, 0, 0, 0));
    maker.trace("g", "masked", 4, full_health(4, 2, 0, 0));
    maker.trace("g", "attention", 4, full_health(4, 0, 0, nan));
  };
  step(0);
  step(0);
  CHECK(!fault_in(folder.path()));
  step(4);
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(fault->link().op_type == "Softmax");
  CHECK(fault->step == 2);
}

TEST_CASE("numerics: a fault is found behind any number of masks") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.op("g", "Const", "low");
  maker.op("g", "SelectV2", "masked", {"low:0"});
  maker.op("g", "Softmax", "attention", {"masked:0"}, {"user"});
  maker.trace("g", "low", 4, full_health(1, 1, 0, 0));
  maker.trace("g", "masked", 4, full_health(4, 2, 0, 0));
  const std::string step = *io::read_file(maker.path("graph_execution_traces").string(), 1 << 20);
  std::string many;
  for (int i = 0; i < 12'000; ++i) many += step;
  maker.append("graph_execution_traces", many);
  CHECK(!fault_in(folder.path()));
  maker.trace("g", "attention", 4, full_health(4, 0, 0, 4));
  maker.trace("g", "low", 4, full_health(1, 1, 0, 0));
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(fault->link().op_type == "Softmax");
}

TEST_CASE("numerics: a mask of infinity that comes in from outside is no fault") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.op("g", "Placeholder", "mask");
  maker.op("g", "AddV2", "scores", {"mask:0"}, {"user"});
  maker.op("g", "Log", "log", {}, {"user"});
  maker.trace("g", "mask", 4, full_health(4, 2, 0, 0));
  maker.trace("g", "scores", 4, full_health(4, 2, 0, 0));
  CHECK(!fault_in(folder.path()));
  maker.trace("g", "log", 4, full_health(4, 0, 0, 1));
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(fault->link().op_type == "Log");
}

TEST_CASE("numerics: a gradient's op is placed where the forward op stands") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.frame("fit", 0, 99, "main");
  maker.op("g", "Sqrt", "loss/distance/Sqrt", {}, {"user", "library"});
  maker.op("g", "SqrtGrad", "gradient_tape/loss/distance/SqrtGrad", {"loss/distance/Sqrt:0"},
           {"fit"});
  maker.trace("g", "loss/distance/Sqrt", 4, full_health(4, 0, 0, 0, 1));
  maker.trace("g", "gradient_tape/loss/distance/SqrtGrad", 4, full_health(4, 0, 1, 0));
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(fault->link().where.line == 42);
}

TEST_CASE("numerics: a bad batch is the data's fault") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.op("g", "Placeholder", "x");
  maker.op("g", "MatMul", "mm", {"x:0"}, {"user"});
  maker.trace("g", "x", 4, full_health(4, 0, 0, 1));
  maker.trace("g", "mm", 4, full_health(4, 0, 0, 4));
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::kEntered);
  CHECK(sentence(*fault).starts_with("First NaN: the input `x`"));
}

TEST_CASE("numerics: eager ops are followed through their tensors") {
  const testing::TempFolder folder;
  DumpMaker maker = sources(folder.path());
  maker.execution("ZerosLike", 4, {full_health(2, 0, 0, 0, 2)}, {{1}, {2}, {"user"}, ""});
  maker.execution("RealDiv", 4, {full_health(2, 0, 1, 1)}, {{1, 2}, {3}, {"user", "library"}, ""});
  maker.execution("Sum", 4, {full_health(1, 0, 0, 1)}, {{3}, {4}, {"user"}, ""});
  const auto fault = fault_in(folder.path());
  REQUIRE(fault);
  CHECK(
      sentence(*fault) ==
      "First NaN: `RealDiv` at loss.py:42, from `ZerosLike`, which reached 0.0; 1 tensor followed");
}
