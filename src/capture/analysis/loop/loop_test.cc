#include "capture/analysis/loop/loop.h"

#include <doctest/doctest.h>

#include "capture/analysis/analysis.h"
#include "capture/trace/builder.h"

using namespace sonde;
using namespace sonde::capture;
using loop::Act;
using trace::TrackKind;

namespace {

constexpr int64_t kMs = 1'000'000'000, kUs = 1'000'000;

struct Made {
  trace::Builder b{"xplane"};
  trace::TrackId python, xla;
  Made() {
    const auto host = b.process("/host:CPU", 0);
    python = b.track(TrackKind::kThread, host, "python", 1);
    xla = b.track(TrackKind::kThread, host, "tf_XLAEigen/1", 2);
  }
  void step(int64_t number, int64_t begin, int64_t length) {
    b.slice(python, {begin}, {length}, b.label("train"));
    b.arg("step_num", number);
    b.arg("_r", int64_t{1});
  }
  void on(trace::TrackId track, std::string_view name, int64_t begin, int64_t length) {
    b.slice(track, {begin}, {length}, b.label(name));
  }
  Session session() {
    trace::Session made;
    made.hosts.push_back({"h", "", 0, std::make_shared<const trace::Trace>(std::move(b).finish())});
    return Session(std::move(made));
  }
};

double ms(const loop::Loop& loop, Act act) {
  return loop::usual_ms(loop, loop::rhythm_of(loop), act);
}

}  // namespace

TEST_CASE("loop: a period lasts to the next step, and what lies between is in it") {
  Made made;
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t t = i * 30 * kMs;
    made.step(i, t, 10 * kMs);
    made.on(made.python, "PjitFunction(f)", t + kMs, kMs);
    made.on(made.xla, "dot", t + 2 * kMs, 8 * kMs);
  }
  const Session session = made.session();
  const loop::Loop& loop = session.analysis().hosts[0]->loop();
  REQUIRE(loop.periods.size() == 4);  // what follows the last step is not known
  CHECK(loop.jax);
  CHECK(loop.periods[0].length() == 30 * kMs);
  CHECK(loop.periods[0].between_ps == 20 * kMs);
  CHECK(ms(loop, Act::kCompute) == doctest::Approx(9));  // the call and XLA's thread
  CHECK(ms(loop, Act::kUnrecorded) == doctest::Approx(21));
  for (const loop::Period& p : loop.periods) {
    int64_t sum = 0;
    for (const int64_t ps : p.ps) sum += ps;
    CHECK(sum == p.length());
  }
}

TEST_CASE("loop: a callback is no computing, though its program runs") {
  Made made;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 20 * kMs;
    made.step(i, t, 20 * kMs);
    made.on(made.python, "PjitFunction(f)", t, kMs);
    made.on(made.xla, "ThunkExecutor::Execute", t + kMs, 18 * kMs);
    made.on(made.xla, "pure_callback.1", t + 2 * kMs, 12 * kMs);
    made.on(made.xla, "dot", t + 14 * kMs, 5 * kMs);
  }
  const Session session = made.session();
  const loop::Loop& loop = session.analysis().hosts[0]->loop();
  CHECK(ms(loop, Act::kCallback) == doctest::Approx(12));
  CHECK(ms(loop, Act::kCompute) == doctest::Approx(7));
}

TEST_CASE("loop: small calls in a row are one by one, compiling is not") {
  Made made;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 10 * kMs;
    made.step(i, t, 10 * kMs);
    for (int64_t k = 0; k < 40; ++k)
      made.on(made.python, "PjitFunction(add)", t + k * 100 * kUs, 50 * kUs);
    made.on(made.python, "PjitFunction(g)", t + 6 * kMs, 3 * kMs);
    made.on(made.python, "backend_compile_and_load", t + 7 * kMs, kMs);
  }
  const Session session = made.session();
  const loop::Loop& loop = session.analysis().hosts[0]->loop();
  CHECK(ms(loop, Act::kOpByOp) == doctest::Approx(3.95));
  CHECK(ms(loop, Act::kCompile) == doctest::Approx(2));  // from the call to the end of compiling
  REQUIRE(loop.chains.size() == 4);
  CHECK(loop.chains[0].operations == 40);
}

TEST_CASE("loop: a function of Python is named from the outermost that does nothing else") {
  Made made;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 20 * kMs;
    made.step(i, t, 20 * kMs);
    made.on(made.python, "$train.py:5 step", t + 10, 20 * kMs - 20);
    made.on(made.python, "$train.py:9 load_batch", t + kMs, 12 * kMs);
    made.on(made.python, "$time sleep", t + kMs + 100, 11 * kMs);
    made.on(made.xla, "dot", t + 13 * kMs, 7 * kMs);
  }
  const Session session = made.session();
  const HostAnalysis& host = *session.analysis().hosts[0];
  const loop::Path path = python_path(host.trace(), host.loop(), host.loop().of(Act::kPython));
  CHECK(path.text == "load_batch (train.py:9) → time.sleep");
  CHECK(path.function == "load_batch");
  CHECK(path.purpose == loop::Purpose::kLoads);
  CHECK(path.inside_ps == 4 * 12 * kMs);
}

TEST_CASE("loop: steps that stand out are known with their distance") {
  Made made;
  int64_t t = 0;
  for (int64_t i = 0; i < 9; ++i) {
    const int64_t length = i % 3 == 2 ? 50 * kMs : 10 * kMs;
    made.step(i, t, length);
    made.on(made.python, "PjitFunction(f)", t, kMs);  // a step without host work is none
    made.on(made.xla, "dot", t, 9 * kMs);
    t += length;
  }
  const Session session = made.session();
  const loop::Rhythm rhythm = loop::rhythm_of(session.analysis().hosts[0]->loop());
  CHECK(rhythm.usual_ms == doctest::Approx(10));
  CHECK(rhythm.outliers == std::vector<size_t>{2, 5, 8});
  CHECK(rhythm.every == 3);
  CHECK(rhythm.extra_share == doctest::Approx(120.0 / 210));
  CHECK_FALSE(rhythm.first_only);
}

TEST_CASE("loop: every second step") {
  Made made;
  int64_t t = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t length = i % 2 == 1 ? 30 * kMs : 10 * kMs;
    made.step(i, t, length);
    made.on(made.python, "PjitFunction(f)", t, kMs);  // a step without host work is none
    made.on(made.xla, "dot", t, 9 * kMs);
    t += length;
  }
  const Session session = made.session();
  const loop::Rhythm rhythm = loop::rhythm_of(session.analysis().hosts[0]->loop());
  CHECK(rhythm.every == 2);
  CHECK(rhythm.usual_ms == doctest::Approx(10));
}

TEST_CASE("loop: a step that was held up hides no rhythm") {
  Made made;
  int64_t t = 0;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t length = i % 5 == 2 ? 100 * kMs : i == 5 ? 25 * kMs : 10 * kMs;
    made.step(i, t, length);
    made.on(made.python, "PjitFunction(f)", t, kMs);
    made.on(made.xla, "dot", t, 9 * kMs);
    t += length;
  }
  const Session session = made.session();
  const loop::Rhythm rhythm = loop::rhythm_of(session.analysis().hosts[0]->loop());
  CHECK(rhythm.outliers == std::vector<size_t>{2, 7});
  CHECK(rhythm.every == 5);
  CHECK(rhythm.usual_ms == doctest::Approx(10));
}

TEST_CASE("loop: of steps that all differ the mean speaks") {
  Made made;
  int64_t t = 0;
  for (const int64_t length : {20, 60, 35, 55, 25, 40}) {
    made.step(t / kMs, t, length * kMs);
    made.on(made.python, "PjitFunction(f)", t, kMs);
    made.on(made.xla, "dot", t, 9 * kMs);
    t += length * kMs;
  }
  const Session session = made.session();
  const loop::Loop& loop = session.analysis().hosts[0]->loop();
  const loop::Rhythm rhythm = loop::rhythm_of(loop);
  CHECK(rhythm.uneven);
  CHECK(rhythm.usual_ms == doctest::Approx(rhythm.mean_ms));
}

TEST_CASE("loop: an executor that ends long after its last operation has not worked since") {
  Made made;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 20 * kMs;
    made.step(i, t, 20 * kMs);
    made.on(made.python, "PjitFunction(f)", t, kMs);
    made.on(made.xla, "ThunkExecutor::Execute", t + kMs, 15 * kMs);
    made.on(made.xla, "dot", t + kMs, 5 * kMs);
  }
  const Session session = made.session();
  const loop::Loop& loop = session.analysis().hosts[0]->loop();
  CHECK(ms(loop, Act::kCompute) == doctest::Approx(6));
  CHECK(ms(loop, Act::kUnrecorded) == doctest::Approx(14));
}

TEST_CASE("loop: programs that were handed over and did not run are no steps") {
  Made made;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 2 * kMs;
    made.step(i, t, 2 * kMs);
    made.on(made.python, "PjitFunction(f)", t, kMs);
    made.on(made.python, "CommonPjRtLoadedExecutable::Execute", t + 100 * kUs, 500 * kUs);
  }
  const Session session = made.session();
  CHECK(session.analysis().hosts[0]->loop().nothing_ran);
}

TEST_CASE("loop words: frames of either tracer, and what a function is for") {
  const loop::Frame a = loop::frame_of("$train.py:73 load_batch");
  CHECK(a.function == "load_batch");
  CHECK(a.file == "train.py");
  CHECK(a.line == 73);
  const loop::Frame b = loop::frame_of("torch/serialization.py(945): save");
  CHECK(b.function == "save");
  CHECK(b.line == 945);
  CHECK(loop::saves(b));
  CHECK(loop::frame_of("<built-in method sleep of module object at 0x1>").function == "sleep");
  CHECK(loop::frame_of("$time sleep").builtin);
  CHECK_FALSE(loop::saves(loop::frame_of("torch/utils/checkpoint.py(3): checkpoint")));
  CHECK_FALSE(loop::saves(loop::frame_of("nn.Module: CheckpointWrapper_2")));
  CHECK(loop::keeps_books(loop::frame_of("torch/_tensor_str.py(131): __init__")));
  CHECK_FALSE(loop::keeps_books(loop::frame_of("torch/nn/modules/module.py(9): forward")));
  CHECK(loop::frame_of("").function.empty());
  CHECK(loop::frame_of("$").function.empty());
  CHECK(loop::word_of("EagerLocalExecute: SaveV2") == loop::Word::kCheckpoint);
  CHECK(loop::word_of("EagerLocalExecute: __inference_train_1") == loop::Word::kFunction);
  CHECK(loop::word_of("model/IteratorGetNext:IteratorGetNext") == loop::Word::kInput);
  CHECK(loop::purpose_of("log_metrics") == loop::Purpose::kLogs);
  CHECK(loop::purpose_of("evaluate") == loop::Purpose::kEvaluates);
}
