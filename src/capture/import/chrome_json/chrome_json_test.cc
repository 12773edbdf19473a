#include <doctest/doctest.h>

#include "capture/import/chrome_json/scanner.h"
#include "capture/import/registry.h"

using namespace sonde;
using namespace sonde::imports;
using trace::Trace;

namespace {

Trace imported(const std::string& text) {
  auto trace = import_trace({"test.json", as_bytes(text), nullptr});
  REQUIRE(trace.has_value());
  return std::move(*trace);
}

std::string diagnostics(const Trace& trace) {
  std::string all;
  for (const auto& d : trace.diagnostics()) all += d.text + "\n";
  return all;
}

}  // namespace

TEST_CASE("chrome_json: microseconds become exact nanoseconds") {
  const struct {
    const char* text;
    int64_t ns;
  } good[] = {{"1", 1000},        {"1794785996693033.882", 1794785996693033882},
              {"0.0015", 2},      {"-2.5", -2500},
              {"1.5e3", 1500000}, {"7.", 7000}};
  for (const auto& c : good) {
    CAPTURE(c.text);
    int64_t ns = 0;
    CHECK(parse_nanos(c.text, ns));
    CHECK(ns == c.ns);
  }
  int64_t ns;
  for (const char* bad : {"", "NaN", "abc", "1x", "99999999999999999999", "1e99", "-"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_nanos(bad, ns));
  }
}

TEST_CASE(
    "chrome_json: complete and begin/end slices, names after the events, ids of both spellings") {
  const Trace trace = imported(R"([
    {"ph":"B","name":"outer","pid":1,"tid":"7","ts":10,"args":{"a":1}},
    {"ph":"X","name":"inner","pid":1,"tid":7,"ts":11.5,"dur":2,"args":{"shape":[1,2],"x":1.5,"ok":true}},
    {"ph":"E","pid":1,"tid":7,"ts":20},
    {"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"worker"}},
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}])");
  REQUIRE(trace.slice_count() == 2);
  CHECK(trace.name(0) == "outer");
  CHECK(trace.duration(0) == Picos{10'000'000});
  CHECK(trace.begin(0) == Picos{0});
  CHECK(trace.depth(1) == 1);
  CHECK(trace.text_of(trace.find(1, trace.key("shape"))) == "[1,2]");
  CHECK(trace.find(1, trace.key("x"))->as_double() == 1.5);
  const auto track = trace.track_of(0);
  CHECK(trace.track_name(track) == "worker");
  CHECK(trace.track_name(trace.tracks()[track].parent) == "python");
}

TEST_CASE("chrome_json: counters of CUPTI ranges become tracks of values") {
  const Trace trace = imported(R"({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"cuda_profiler_range","name":"gemm","pid":0,"tid":7,"ts":10,"dur":5,
     "args":{"smsp__inst_executed.sum":1200,"device":0}},
    {"ph":"X","cat":"cuda_profiler_range","name":"gemm","pid":0,"tid":7,"ts":20,"dur":5,
     "args":{"smsp__inst_executed.sum":1300,"device":0}}]})");
  uint32_t counters = 0;
  for (const trace::Track& track : trace.tracks()) {
    if (track.kind != trace::TrackKind::kCounter) continue;
    ++counters;
    CHECK(trace.text(track.name) == "smsp__inst_executed.sum");
    REQUIRE(track.points == 4);  // up at the begin, down at the end
    CHECK(trace.point_value(track.first_point) == 1200);
    CHECK(trace.point_value(track.first_point + 1) == 0);
    CHECK(trace.point_value(track.first_point + 2) == 1300);
  }
  CHECK(counters == 1);
}

TEST_CASE(
    "chrome_json: Kineto's header and categories are recognised, its clock gives the wall time") {
  const Trace trace = imported(
      R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"deviceProperties":[{"id":0}],
    "traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":3,"tid":3,"ts":5.25,"dur":1}]})");
  CHECK(trace.format() == "kineto");
  CHECK(trace.start_ns() == 1700000000000005250);
  CHECK(trace.metadata("deviceProperties") == R"([{"id":0}])");
}

TEST_CASE("chrome_json: counters, async groups and flows") {
  const Trace trace = imported(R"([
    {"ph":"X","name":"launch","pid":1,"tid":1,"ts":0,"dur":5},
    {"ph":"X","name":"kernel","pid":0,"tid":7,"ts":10,"dur":5},
    {"ph":"s","cat":"ac2g","name":"ac2g","id":4,"pid":1,"tid":1,"ts":1},
    {"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":4,"pid":0,"tid":7,"ts":10},
    {"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":5,"pid":0,"tid":7,"ts":10},
    {"ph":"C","name":"memory","pid":1,"ts":3,"args":{"used":12,"free":"8"}},
    {"ph":"b","cat":"req","name":"a","id":"0x1","pid":1,"ts":1},{"ph":"b","cat":"req","name":"b","id":"0x2","pid":1,"ts":2},
    {"ph":"e","cat":"req","name":"a","id":"0x1","pid":1,"ts":4},{"ph":"e","cat":"req","name":"b","id":"0x2","pid":1,"ts":6}])");
  REQUIRE(trace.flows().size() == 1);
  CHECK(trace.name(trace.flows()[0].from) == "launch");
  CHECK(trace.name(trace.flows()[0].to) == "kernel");
  CHECK(diagnostics(trace).find("1 flow ends") != std::string::npos);
  int counters = 0, async_slices = 0;
  for (const auto& track : trace.tracks()) {
    counters += track.kind == trace::TrackKind::kCounter;
    if (track.kind == trace::TrackKind::kAsync) async_slices += static_cast<int>(track.slices);
  }
  CHECK(counters == 2);
  CHECK(async_slices == 2);
}

TEST_CASE("chrome_json: damage costs the damaged event and nothing else") {
  const std::string good = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  const struct {
    const char* promise;
    std::string text;
    uint32_t slices;
  } cases[] = {
      {"the closing bracket may be missing", "[" + good + ",\n" + good, 2},
      {"a file cut inside an event keeps what came before", "[" + good + "," + good.substr(0, 20),
       1},
      {"a file cut inside a string", "[" + good + ",{\"ph\":\"X\",\"name\":\"ab", 1},
      {"trailing and doubled commas", "[" + good + ",," + good + ",]", 2},
      {"no comma between events", "[" + good + good + "]", 2},
      {"bare words as argument values",
       R"([{"ph":"X","name":"a","ts":1,"dur":1,"args":{"x":NaN,"y":N/A,"z":-Infinity}}])", 1},
      {"a bare word as time costs the event",
       "[" + good + R"(,{"ph":"X","name":"a","ts":NaN,"dur":1}])", 1},
      {"raw newline and bad UTF-8 in a name",
       "[{\"ph\":\"X\",\"name\":\"a\n\xff\",\"ts\":1,\"dur\":1}]", 1},
      {"an unescaped quote in a name",
       "[\n{\"ph\":\"X\",\"name\":\"a {\"b\": 1}\",\"ts\":1,\"dur\":1},\n" + good + "\n]", 1},
      {"empty forms", "[]", 0},
      {"an empty object", "{}", 0},
      {"JSON lines", good + "\n" + good + "\n", 2},
      {"two documents", "[" + good + "][" + good + "]", 2},
      {"an end without a beginning", R"([{"ph":"E","pid":1,"tid":1,"ts":5},)" + good + "]", 1},
      {"deep nesting in arguments",
       "[" + good + ",{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"args\":" + std::string(2000, '[') +
           "}",
       1},
      {"numbers in quotes", R"([{"ph":"X","name":"a","ts":"1.5","dur":"2"}])", 1},
  };
  for (const auto& c : cases) {
    CAPTURE(c.promise);
    CHECK(imported(c.text).slice_count() == c.slices);
  }
}

TEST_CASE("chrome_json: every cut of a small trace is read without harm") {
  const std::string text =
      R"({"traceEvents":[{"ph":"B","name":"a\u00e9","pid":1,"tid":1,"ts":1,"args":{"k":[1,{"x":"y"}]}},{"ph":"E","pid":1,"tid":1,"ts":2}],"other":{"a":1}})";
  for (size_t n = 0; n < text.size(); ++n) {
    auto trace = import_trace({"cut.json", as_bytes(std::string_view(text).substr(0, n)), nullptr});
    if (trace) CHECK(trace->slice_count() <= 1);
  }
}

TEST_CASE("chrome json: read ahead by several threads gives the same trace") {
  // Events of several lines; one string holds what looks like the beginning of an event.
  std::string text = "{\"schemaVersion\":1,\"traceEvents\":[\n";
  for (int i = 0; i < 60'000; ++i) {
    const std::string trap = i % 7 == 0 ? "x\n  {\"ph\": \"X\", \"name\": \"not me\"" : "plain";
    std::string escaped;
    for (const char c : trap) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    text += "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op" + std::to_string(i % 50) +
            "\", \"pid\": 1, \"tid\": " + std::to_string(i % 5) +
            ",\n    \"ts\": " + std::to_string(i * 3) +
            ", \"dur\": 2.5,\n    \"args\": {\"note\": \"" + escaped +
            "\", \"n\": " + std::to_string(i) + "}\n  },\n";
  }
  text += "  {\"ph\":\"X\",\"name\":\"last\",\"pid\":1,\"tid\":1,\"ts\":999999,\"dur\":1}\n]}";
  REQUIRE(text.size() > (8 << 20));
  const auto alone = imports::import_trace({"x.json", as_bytes(text), nullptr});
  ThreadPool pool("test", 3);
  const auto together = imports::import_trace({"x.json", as_bytes(text), &pool});
  REQUIRE(alone);
  REQUIRE(together);
  REQUIRE(alone->slice_count() == 60'001);
  REQUIRE(together->slice_count() == alone->slice_count());
  CHECK(together->diagnostics().size() == alone->diagnostics().size());
  const trace::KeyId key_a = alone->key("n"), key_b = together->key("n");
  bool same = true;
  for (uint32_t s = 0; s < alone->slice_count(); ++s) {
    same &= alone->name(s) == together->name(s) && alone->begin(s) == together->begin(s) &&
            alone->duration(s) == together->duration(s);
    const auto a = alone->find(s, key_a), b = together->find(s, key_b);
    same &= a.has_value() == b.has_value() && (!a || a->as_int() == b->as_int());
  }
  CHECK(same);
}

TEST_CASE("chrome_json: numbers larger than 64 bits stay numbers, and ids of that size differ") {
  const Trace trace = imported(R"([
    {"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5,"args":{"big":99999999999999999999}},
    {"ph":"X","name":"b","pid":1,"tid":2,"ts":10,"dur":5},
    {"ph":"s","id":99999999999999999999,"name":"f","pid":1,"tid":1,"ts":1},
    {"ph":"f","bp":"e","id":0,"name":"f","pid":1,"tid":2,"ts":11},
    {"ph":"f","bp":"e","id":99999999999999999999,"name":"f","pid":1,"tid":2,"ts":12}])");
  CHECK(trace.find(0, trace.key("big"))->as_double() == 1e20);
  REQUIRE(trace.flows().size() == 1);
  CHECK(trace.name(trace.flows()[0].to) == "b");
}
