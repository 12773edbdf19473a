#include "capture/import/step_stats/step_stats.h"

#include <doctest/doctest.h>

#include "base/crc32c.h"
#include "capture/import/registry.h"
#include "capture/import/session.h"
#include "capture/import/step_stats/event_file.h"
#include "capture/import/step_stats/fill.h"
#include "codec/wire.h"
#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::imports;

namespace {

struct Node {
  const char* name;
  const char* label;
  uint64_t start, length;
  uint64_t bytes = 0;
  uint64_t thread = 0;
};

void add_device(wire::Encoder& stats, std::string_view name, const std::vector<Node>& nodes) {
  stats.message(1, [&](wire::Encoder& device) {
    device.bytes(1, name);
    for (const Node& node : nodes) {
      device.message(2, [&](wire::Encoder& n) {
        n.bytes(1, node.name);
        n.varint(2, node.start);
        n.varint(5, node.length);
        if (node.bytes != 0) {
          n.message(7, [&](wire::Encoder& output) {
            output.message(3, [&](wire::Encoder& description) {
              description.message(4, [&](wire::Encoder& allocation) {
                allocation.varint(1, node.bytes);
                allocation.bytes(3, "cpu");
              });
            });
          });
        }
        n.bytes(8, node.label);
        n.varint(10, node.thread);
      });
    }
  });
}

std::string step_stats(uint64_t at = 1000) {
  std::string out;
  wire::Encoder stats(out);
  add_device(stats, "/job:localhost/replica:0/task:0/device:CPU:0",
             {{"a", "a = Const()", at, 10, 64, 1}, {"b", "b = Relu(a, ^c)", at + 12, 5, 0, 2}});
  add_device(stats, "/job:localhost/replica:0/task:0/device:GPU:0",
             {{"mm", "mm = MatMul(a/_7)", at + 20, 3, 128}});
  add_device(stats, "/device:GPU:0/stream:all",
             {{"k", "void sgemm regs:1 @@mm#id=1#", at + 22, 30}});
  return out;
}

std::string run_metadata(uint64_t at = 1000) {
  std::string out;
  wire::Encoder(out).bytes(1, step_stats(at));
  return out;
}

trace::Trace imported(std::string_view bytes, std::string_view name = "x.pb") {
  auto trace = import_trace({name, as_bytes(bytes), nullptr});
  REQUIRE(trace);
  return std::move(*trace);
}

std::string events(std::initializer_list<std::pair<int64_t, std::string>> runs) {
  std::string out = testing::version_record();
  for (const auto& [step, metadata] : runs) {
    out += testing::record(testing::event(1000, step, [&](wire::Encoder& e) {
      e.message(8, [&](wire::Encoder& tagged) {
        tagged.bytes(1, "step" + std::to_string(step));
        tagged.bytes(2, metadata);
      });
    }));
  }
  return out;
}

}  // namespace

TEST_CASE("step stats: both forms are told apart by content and read alike") {
  CHECK(step_stats_form(as_bytes(step_stats())) == StepStatsForm::kStepStats);
  CHECK(step_stats_form(as_bytes(run_metadata())) == StepStatsForm::kRunMetadata);
  CHECK(step_stats_form(as_bytes("")) == StepStatsForm::kNone);
  CHECK(step_stats_form(as_bytes("{\"traceEvents\":[]}")) == StepStatsForm::kNone);
  for (const std::string& bytes : {step_stats(), run_metadata()}) {
    const StepStats stats = decode_step_stats(as_bytes(bytes));
    REQUIRE(stats.devices.size() == 3);
    CHECK(stats.node_count() == 4);
    CHECK_FALSE(stats.cut);
    NodeDetails details;
    details.read(stats.devices[0].nodes[1]);
    details.read(stats.devices[0].nodes[0]);
    REQUIRE(details.outputs.size() == 1);
    CHECK(details.outputs[0].requested_bytes == 64);
    CHECK(stats.devices[0].nodes[1].thread == 2);
  }
}

TEST_CASE("step stats: labels are read as TensorFlow's timeline reads them") {
  struct Case {
    const char* promise;
    const char* name;
    const char* label;
    bool gpu;
    const char *found_name, *op;
    std::vector<std::string> inputs;
  };
  const Case cases[] = {
      {"an op", "b", "b = Relu(a, ^c)", false, "b", "Relu", {"a", "^c"}},
      {"no inputs", "b", "b = Const()", false, "b", "Const", {}},
      {"memory in front", "b", "[cpu 1MB] b = Add(x)", false, "b", "Add", {"x"}},
      {"the last equals sign counts", "b", "a = b = Add(x)", false, "b", "Add", {"x"}},
      {"brackets inside", "b", "b = F(g(x))", false, "b", "F(g", {"x)"}},
      {"no op", "odd", "something else", false, "odd", "unknown", {}},
      {"a received tensor", "RecvTensor", "[1B] x = y(z)", false, "RecvTensor", "RecvTensor", {}},
      {"a kernel", "k", "sgemm @@mm#id=1#", true, "mm", "unknown", {}},
      {"a kernel with its op", "k", "sgemm @@mm:MatMul#", true, "mm", "MatMul", {}},
      {"a copy", "MEMCPYHtoD", "MEMCPYHtoD 16 bytes", true, "MEMCPYHtoD", "unknown", {}},
      {"only brackets", "x", "(", false, "x", "unknown", {}},
      {"empty", "x", "", false, "x", "unknown", {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.promise);
    NodeStats node;
    node.name = c.name;
    node.label = c.label;
    const NodeLabel label = parse_label(node, c.gpu);
    CHECK(label.name == c.found_name);
    if (std::string_view(c.promise) != "brackets inside") {
      CHECK(label.op == c.op);
      CHECK(std::vector<std::string>(label.inputs.begin(), label.inputs.end()) == c.inputs);
    }
  }
}

TEST_CASE("step stats: lanes are packed as TensorFlow packs them") {
  DeviceStats device;
  for (const auto& [start, length] : std::vector<std::pair<int64_t, int64_t>>{
           {1000, 2}, {1005, 10}, {1015, 5}, {1016, 4}, {1016, 1}, {1017, 9}, {1040, 1}}) {
    NodeStats node;
    node.start_us = start;
    node.end_us = length;
    device.nodes.push_back(node);
  }
  // Back to back opens a lane; the first that is free is taken.
  CHECK(packed_lanes(device) == std::vector<uint32_t>{0, 0, 1, 0, 2, 3, 0});
}

TEST_CASE("step stats: a run becomes a step of host ops, kernels, flows and memory") {
  const trace::Trace trace = imported(run_metadata(1'700'000'000'000'000), "run_0.run_metadata.pb");
  CHECK(trace.format() == "step_stats");
  CHECK(trace.start_ns() == 1'700'000'000'000'000'000);
  CHECK(trace.slice_count() == 5);  // the run itself is one
  CHECK(trace.flows().size() == 2);
  std::vector<std::string> names;
  for (uint32_t s = 0; s < trace.slice_count(); ++s) names.emplace_back(trace.name(s));
  CHECK(std::count(names.begin(), names.end(), "mm:MatMul") == 1);
  CHECK(std::count(names.begin(), names.end(), "void sgemm regs:1") == 1);
  CHECK(std::count(names.begin(), names.end(), "run_0") == 1);
  bool has_memory = false;
  for (trace::TrackId t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != trace::TrackKind::kCounter) continue;
    has_memory = true;
    CHECK(trace.track_name(t) == "cpu");
    CHECK(trace.tracks()[t].points == 4);
  }
  CHECK(has_memory);
}

TEST_CASE("event file: every tag is a run, in order of step; runs far apart move together") {
  const uint64_t day = 86'400'000'000;
  const std::string file = events({{7, run_metadata(20 * day)}, {3, run_metadata(day)}});
  CHECK(holds_step_stats(as_bytes(file).subspan(testing::version_record().size() + 12)));
  const trace::Trace trace = imported(file, "events.out.tfevents.1.x");
  CHECK(trace.slice_count() == 10);
  CHECK(trace.last_end().value < 1'000'000'000);
  const auto found = runs_of_event_file(as_bytes(file));
  REQUIRE(found.runs.size() == 2);
  CHECK(found.runs[0].name == "step3");
  CHECK(found.runs[1].step == 7);
  CHECK(found.damage.empty());
  CHECK_FALSE(import_trace({"events", as_bytes(testing::version_record()), nullptr}));
}

TEST_CASE("event file: damaged records cost themselves only") {
  std::string file = events({{1, run_metadata()}, {2, run_metadata()}, {3, run_metadata()}});
  const size_t second = testing::version_record().size() + 2 * (file.size() / 4);
  file[second] ^= 1;
  const auto found = runs_of_event_file(as_bytes(file));
  CHECK(found.runs.size() >= 1);
  CHECK(found.runs.size() < 3);
  CHECK_FALSE(found.damage.empty());
}

TEST_CASE("step stats: a cut after every byte gives what is there and never more") {
  const std::string whole = run_metadata();
  for (size_t length = 0; length < whole.size(); ++length) {
    const StepStats stats = decode_step_stats(as_bytes(std::string_view(whole).substr(0, length)));
    CHECK(stats.node_count() <= 4);
    if (stats.node_count() == 0) continue;
    CHECK(import_trace({"x.pb", as_bytes(std::string_view(whole).substr(0, length)), nullptr}));
  }
  const std::string file = events({{1, run_metadata()}, {2, run_metadata()}});
  for (size_t length = 0; length < file.size(); ++length)
    (void)import_trace({"events", as_bytes(std::string_view(file).substr(0, length)), nullptr});
}

TEST_CASE("step stats: hostile numbers stay numbers") {
  for (const uint64_t start : {uint64_t{1} << 60, UINT64_MAX, uint64_t{1} << 63, uint64_t{0}}) {
    for (const uint64_t length : {uint64_t{1} << 60, UINT64_MAX, uint64_t{1} << 63}) {
      std::string out;
      wire::Encoder stats(out);
      add_device(stats, "/device:CPU:0",
                 {{"a", "a = Const()", start, length, uint64_t{1} << 60},
                  {"a", "a = Relu(a)", 5, length, UINT64_MAX},
                  {"b", "b = Relu(a)", 5, 1, uint64_t{1} << 63}});
      add_device(stats, "/device:GPU:0/stream:all", {{"k", "x @@a#", start, length}});
      const trace::Trace trace = imported(out);
      for (uint32_t s = 0; s < trace.slice_count(); ++s) CHECK(trace.end(s) >= trace.begin(s));
      StepStats decoded = decode_step_stats(as_bytes(out));
      apply_op_time(decoded, OpTime::kAll);
      (void)packed_lanes(decoded.devices[0]);
    }
  }
  // A length of 2^60 in front of nothing.
  std::string huge = "\x0a";
  wire::Encoder(huge).raw_varint(uint64_t{1} << 60);
  CHECK(decode_step_stats(as_bytes(huge)).node_count() == 0);
}

TEST_CASE("step_stats: times at both ends of what a number holds") {
  std::string bytes;
  wire::Encoder stats(bytes);
  add_device(stats, "/job:localhost/replica:0/task:0/device:CPU:0",
             {{"a", "a = Const()", static_cast<uint64_t>(INT64_MIN / 1000 + 1), 10},
              {"b", "b = Const()", static_cast<uint64_t>(INT64_MAX / 1000 - 1), 10}});
  std::vector<StepStatsRun> runs;
  for (int64_t i = 0; i < 3; ++i) runs.push_back({"r", i, decode_step_stats(as_bytes(bytes))});
  trace::Builder builder("step_stats");
  fill_trace(runs, {}, builder);
  const trace::Trace trace = std::move(builder).finish();
  CHECK(trace.slice_count() == 9);  // two nodes and the run itself, three times
  for (uint32_t i = 0; i < trace.slice_count(); ++i)
    CHECK(trace.duration(i).value <= trace::kTimeLimit);
}
