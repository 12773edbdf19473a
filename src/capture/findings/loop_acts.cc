// What the thread that runs the loop does instead of computing: waits for a batch that Python
// makes, compiles, writes checkpoints, waits for callbacks, hands over operations one by one, runs
// Python. Each rule says how much of the time from one step to the next it takes, who it is, and
// what to change in this framework.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;
using loop::Ranges;

constexpr double kWorthSaying = 0.05;  // of a period
constexpr double kPythonShare = 0.10;
// Gaps between the operations of a healthy program add up to this much.
constexpr double kUsualGaps = 0.20;
constexpr double kManyGaps = 0.35;  // where they are many and none is long

// The line that makes the next capture show functions of Python.
std::string tracer_line(const Rules& r) {
  if (r.loop->pytorch)
    return "-with torch.profiler.profile(...) as prof:\n"
           "+with torch.profiler.profile(..., with_stack=True) as prof:";
  if (r.loop->jax)
    return "+options = jax.profiler.ProfileOptions()\n+options.python_tracer_level = 1\n"
           "+jax.profiler.start_trace(logdir, profiler_options=options)";
  return "+options = tf.profiler.experimental.ProfilerOptions(python_tracer_level=1)\n"
         "+tf.profiler.experimental.start(logdir, options)";
}
std::string_view tracer_name(const Rules& r) {
  return r.loop->pytorch ? "with_stack=True" : "python_tracer_level=1";
}
// TensorFlow's newer releases take that option and record no functions.
std::string_view tracer_else(const Rules& r) {
  return r.loop->pytorch || r.loop->jax ? ""
                                        : " (where that shows none, wrap parts of the loop in "
                                          "tf.profiler.experimental.Trace('name'))";
}

// How the next batch is made beside the step, by framework.
std::string_view read_ahead(const Rules& r) {
  if (r.loop->pytorch)
    return "Make the next batch while the step runs: in a DataLoader with workers (num_workers), "
           "or "
           "in a thread of its own with a queue.";
  if (r.loop->keras)
    return "Make the next batch while the step runs: give the PyDataset more workers (workers=4, "
           "use_multiprocessing=True, max_queue_size=10), or prepare the data once.";
  if (r.loop->jax)
    return "Make the next batch while the step runs: in a background thread or process with a "
           "queue "
           "(grain, tf.data or a loader of your own), and do not wait for the loss before asking "
           "for it.";
  return "Make the next batch while the step runs: move the work into tf.data and end the pipeline "
         "with prefetch.";
}

// The function that is compiled, and how often.
std::pair<std::string, uint32_t> compiled_function(const Rules& r) {
  const trace::Trace& trace = r.pace->trace();
  std::string function;
  uint32_t times = 0;
  if (r.loop->jax) {
    int64_t most = 0;
    for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kCompile))) {
      const std::string_view name = trace.text(trace.labels()[c.label].name);
      if (!name.starts_with("PjitFunction(") || c.inside_ps <= most) continue;
      most = c.inside_ps;
      times = c.count;
      function = name.substr(13, name.size() - 14);
    }
  } else if (r.loop->pytorch) {
    const trace::Track& track = trace.tracks()[r.loop->thread];
    for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s)
      times += trace.name(s) == "entire_frame_compile" ||
               trace.name(s) == "entire_frame_compile (dynamo_timed)";
  } else {
    // TensorFlow says at each call of a function whether it was traced.
    std::map<std::string_view, std::pair<int64_t, uint32_t>> traced;
    const trace::Track& track = trace.tracks()[r.loop->thread];
    const trace::KeyId kind = r.pace->words().key.tf_function_call;
    for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (kind == trace::kNone ||
          !trace.text_of(trace.find(trace.args(s), kind)).starts_with("traced-"))
        continue;
      auto& [ps, count] = traced[trace.name(s)];
      ps += trace.duration(s).value;
      ++count;
    }
    for (const auto& [name, sum] : traced) {
      if (function.empty() || sum.first > traced[function].first) function = name;
    }
    if (!function.empty()) times = traced[function].second;
  }
  return {function, times};
}

void compile(Rules& r) {
  const double ms = r.usual_ms(Act::kCompile), share = ratio(ms, r.rhythm.usual_ms);
  if (r.loop->of(Act::kCompile).empty()) return;
  Finding f = make("COMPILE-TIME", share >= kWorthSaying, by_share(share));
  const auto [function, times] = compiled_function(r);
  const std::string often = fmt::format("{} times in {} steps", times, r.loop->periods.size());
  f.text =
      fmt::format("{} trace and compile{}", r.of_step(ms),
                  !function.empty() ? fmt::format(" the function {} again, {}", function, often)
                  : times > 0       ? fmt::format(" again (torch.compile), {}", often)
                                    : std::string(" programs"));
  f.text += ".";
  advise_compile(r, f);
  f.numbers = {{"compile_ms", ms}, {"times", static_cast<double>(times)}};
  f.evidence = {{"trace_viewer", function}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

void checkpoint(Rules& r) {
  const double ms = r.usual_ms(Act::kCheckpoint), share = ratio(ms, r.rhythm.usual_ms);
  if (r.loop->of(Act::kCheckpoint).empty()) return;
  Finding f = make("CHECKPOINT", share >= kWorthSaying, by_share(share));
  const trace::Trace& trace = r.pace->trace();
  const loop::Path path = python_path(trace, *r.loop, r.loop->of(Act::kCheckpoint));
  std::string who = path.text;
  if (who.empty()) {
    for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kCheckpoint))) {
      const std::string_view name = trace.text(trace.labels()[c.label].name);
      if (loop::word_of(name) != loop::Word::kCheckpoint) continue;
      constexpr std::string_view kLocal = "EagerLocalExecute: ";
      const std::string_view op = name.starts_with(kLocal) ? name.substr(kLocal.size()) : name;
      if (who.find(op) != std::string::npos) continue;
      who += fmt::format(
          "{}{} {:.1f} ms", who.empty() ? "" : ", ", op,
          static_cast<double>(c.inside_ps) / 1e9 / static_cast<double>(r.loop->periods.size()));
    }
  }
  f.text = fmt::format("{} save a checkpoint{}.", r.of_step(ms), who.empty() ? "" : ": " + who);
  f.action =
      "Save less often (every few hundred steps, or at the end of an epoch), or in the background "
      "while the next steps run.";
  f.diff = r.loop->pytorch
               ? "-torch.save(state, path)\n+if step % 500 == 0:\n+    torch.save(state, path)"
           : r.loop->jax ? "-save(state)\n+if step % 500 == 0:\n+    save(state)   # or "
                           "orbax.checkpoint.AsyncCheckpointer"
                         : "-checkpoint.write(path)\n+if step % 500 == 0:\n+    "
                           "checkpoint.write(path, "
                           "options=tf.train.CheckpointOptions(enable_async=True))";
  f.numbers = {{"checkpoint_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", "Save"}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

void callback(Rules& r) {
  const double ms = r.usual_ms(Act::kCallback), share = ratio(ms, r.rhythm.usual_ms);
  if (r.loop->of(Act::kCallback).empty()) return;
  Finding f = make("CALLBACK", share >= kWorthSaying, by_share(share));
  // Which operation: the longest of that kind on any thread.
  const trace::Trace& trace = r.pace->trace();
  std::vector<bool> calls_back;  // by label
  for (const trace::Label& label : trace.labels())
    calls_back.push_back(loop::word_of(trace.text(label.name)) == loop::Word::kCallback);
  std::string_view longest;
  int64_t most = 0;
  Ranges all;
  for (trace::SliceId s = 0; s < trace.slice_count(); ++s) {
    if (!calls_back[trace.label_id(s)]) continue;
    all.push_back({trace.begin(s).value, trace.end(s).value});
    if (trace.duration(s).value <= most) continue;
    most = trace.duration(s).value;
    longest = trace.name(s);
  }
  f.text = fmt::format("{} the compiled step waits for a callback into Python ({}).", r.of_step(ms),
                       longest.empty() ? "callback" : longest);
  // Operations that can run beside it hide a part.
  std::vector<double> whole;
  all = pytorch::merged(std::move(all));
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    whole.push_back(static_cast<double>(pytorch::total_inside(all, {p.begin, p.end})) / 1e9);
  }
  if (const double takes = r.typical(std::move(whole)); takes > 1.3 * ms)
    f.text +=
        fmt::format(" It takes {:.1f} ms a step, the rest of it beside other operations.", takes);
  if (r.loop->jax) {
    f.action =
        "Write what the callback does with jax.numpy inside the compiled step, or return its input "
        "and call the function outside of the step and less often; for logging, an unordered "
        "jax.debug.callback does not hold up the step.";
    f.diff = "-y = jax.pure_callback(host, shape, x)\n+y = host_in_jnp(x)   # jax.numpy, compiled";
  } else {
    f.action =
        "Only one thread can run Python, and the step waits for it: write the function with "
        "TensorFlow ops, or call it outside of the compiled step and less often.";
    f.diff = "-y = tf.py_function(fn, [x], tf.float32)\n+y = fn_in_tensorflow(x)";
  }
  f.numbers = {{"callback_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", std::string(longest)}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

// Where in the period the moments are: mostly between two steps?
bool mostly_between(const Rules& r, Act act) {
  int64_t between = 0, all = 0;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    between += pytorch::total_inside(r.loop->of(act), {p.marked_end, p.end});
    all += p.of(act);
  }
  return 2 * between > all;
}

void advise_python(Rules& r, Finding& f, const loop::Path& path) {
  switch (path.purpose) {
    case loop::Purpose::kLoads:
      f.id = "IN-PYTHON";
      f.action = read_ahead(r);
      f.diff = "+queue = background(make_batches)   # a thread or process that stays ahead";
      break;
    case loop::Purpose::kSaves:
      f.id = "CHECKPOINT";
      f.action = "Save less often, or in a background thread while the next steps run.";
      f.diff =
          fmt::format("-{}(...)\n+if step % 500 == 0:\n+    {}(...)", path.function, path.function);
      break;
    default:
      if (!path.functions.empty() && path.functions.back() == "gc.collect") {
        f.action =
            "Collect garbage less often, or not at all: gc.freeze() once before the loop keeps "
            "long-lived objects out of it, gc.disable() and gc.collect() every 1000 steps bound "
            "it.";
        f.diff =
            "+gc.freeze()   # once, before the loop\n-gc.collect()\n+if step % 1000 == 0:\n+    "
            "gc.collect()";
        break;
      }
      f.action =
          "Move it out of the training loop: call it less often (every 100 steps), or in a "
          "background thread or process while the next step runs.";
      f.diff =
          fmt::format("-{}(...)\n+if step % 100 == 0:\n+    {}(...)", path.function, path.function);
  }
}

void python(Rules& r) {
  const double ms = r.usual_ms(Act::kPython), share = ratio(ms, r.rhythm.usual_ms);
  if (!r.loop->has_python || r.loop->doubtful) return;
  Finding f = make("PY-FUNCTION", r.enough && share >= kPythonShare, by_share(share));
  f.numbers = {{"python_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", ""}};
  const Ranges moments = inside(r.loop->of(Act::kPython), *r.loop, r.rhythm.usual);
  const loop::Path path = f.fired ? python_path(r.pace->trace(), *r.loop, moments) : loop::Path{};
  if (path.functions.empty()) {
    f.text = fmt::format("{} run Python that calls no operation{}.", r.of_step(ms),
                         f.fired ? ", spread over many functions" : "");
    f.action = "Compile more of the step into one call, or do the rest less often.";
    if (f.fired) f.severity = share >= kUsualGaps ? Severity::kMinor : Severity::kInfo;
    if (share >= kUsualGaps) gain(f, ms, r.rhythm.usual_ms);
    r.found.push_back(std::move(f));
    return;
  }
  const double own =
      static_cast<double>(path.inside_ps) / 1e9 / static_cast<double>(r.rhythm.usual.size());
  f.text = fmt::format("{} are spent in the {} {}{}.", r.of_step(own),
                       path.region ? "region" : "Python function", path.text,
                       path.purpose == loop::Purpose::kLoads
                           ? ", which makes the next batch, going by its name"
                           : "");
  f.evidence = {{"trace_viewer", path.function}};
  advise_python(r, f, path);
  gain(f, own, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

// Python that was not recorded, inside a region that the program marked.
void marked_region(Rules& r, Finding& f, const loop::Path& path) {
  const double ms =
      static_cast<double>(path.inside_ps) / 1e9 / static_cast<double>(r.rhythm.usual.size());
  f.severity = by_share(ratio(ms, r.rhythm.usual_ms));
  f.text = fmt::format("{} are Python inside the region {} in which nothing else is recorded.",
                       r.of_step(ms), path.text);
  f.action =
      path.purpose == loop::Purpose::kLoads
          ? std::string(read_ahead(r))
          : fmt::format(
                "Move it out of the training loop: less often (every 100 steps), or in a "
                "background "
                "thread or process while the next step runs; a capture with {} shows the functions "
                "in it.",
                tracer_name(r));
  f.diff = tracer_line(r);
  f.numbers = {{"region_ms", ms}, {"percent", 100 * ratio(ms, r.rhythm.usual_ms)}};
  f.evidence = {{"trace_viewer", path.functions.front()}};
  gain(f, ms, r.rhythm.usual_ms);
}

// Gaps that are all small are what a busy machine makes between the operations of a healthy program;
// Python that is in the way is one piece, or few.
bool in_few_pieces(const Rules& r, Act act) {
  std::vector<double> shares;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    int64_t longest = 0;
    for (const pytorch::Range& piece : r.loop->of(act)) {
      const int64_t length = std::min(piece.end, p.end) - std::max(piece.begin, p.begin);
      longest = std::max(longest, length);
    }
    shares.push_back(ratio(static_cast<double>(longest), static_cast<double>(p.of(act))));
  }
  return loop::median(std::move(shares)) >= 0.3;
}

void unrecorded(Rules& r) {
  const double ms = r.usual_ms(Act::kUnrecorded), share = ratio(ms, r.rhythm.usual_ms);
  if (r.loop->has_python || r.loop->doubtful) return;
  // Where nothing at all is recorded, nothing can be said about it.
  const bool empty = r.loop->of(Act::kCompute).empty() && r.loop->of(Act::kOpByOp).empty();
  Finding f = make("PY-GAP", r.enough && share >= kPythonShare && !empty, by_share(share));
  const Ranges moments = inside(r.loop->of(Act::kUnrecorded), *r.loop, r.rhythm.usual);
  const loop::Path path = f.fired ? python_path(r.pace->trace(), *r.loop, moments) : loop::Path{};
  if (2 * path.inside_ps > pytorch::total(moments)) {
    marked_region(r, f, path);
    r.found.push_back(std::move(f));
    return;
  }
  const bool between = mostly_between(r, Act::kUnrecorded);
  f.text = fmt::format("{} show no recorded work on host or device: Python {}, most likely{}.",
                       r.of_step(ms), between ? "between the steps" : "between the calls",
                       !between        ? ""
                       : r.loop->keras ? " (a callback, or the next batch being made)"
                                       : " (logging, or the next batch being made)");
  f.action = fmt::format(
      "Capture once with {} to see the function{}; then call it less often, or in a background "
      "thread while the next step runs. {}",
      tracer_name(r), tracer_else(r), read_ahead(r));
  f.diff = tracer_line(r);
  f.numbers = {{"gap_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", ""}};
  if (f.fired &&
      (share < kUsualGaps || (share < kManyGaps && !in_few_pieces(r, Act::kUnrecorded)))) {
    f.severity = Severity::kInfo;
  } else {
    gain(f, ms, r.rhythm.usual_ms);
  }
  r.found.push_back(std::move(f));
}

// JAX only hands programs over; a capture that stops before they ran shows no step.
void not_run(Rules& r) {
  Finding f = make("NOT-RUN", true, Severity::kInfo);
  f.text = fmt::format(
      "{} programs were handed over, but the capture ends before they ran: {:.1f} ms from one to "
      "the next is what handing over takes, not a step.",
      r.loop->periods.size() + 1, r.rhythm.usual_ms);
  f.action =
      "Wait for the last result before the profiler stops (block_until_ready), and record more "
      "steps.";
  f.diff = "+jax.block_until_ready(state)\n jax.profiler.stop_trace()";
  r.found.push_back(std::move(f));
}

}  // namespace

std::string advise_compile(const Rules& r, Finding& f) {
  std::string function = compiled_function(r).first;
  if (r.loop->pytorch) {
    f.action =
        "Shapes or Python values that change make torch.compile compile again: pad to few shapes, "
        "mark changing dimensions as dynamic, keep Python numbers out of the arguments.";
    f.diff = "-step = torch.compile(step)\n+step = torch.compile(step, dynamic=True)";
  } else if (r.loop->jax) {
    f.action =
        "Every new shape, every new value of a static argument and every new function object "
        "compiles again: pad batches to few shapes (buckets), drop the last uneven one, pass "
        "changing numbers as arrays and not in static_argnums, and call jax.jit once, outside of "
        "the loop, on the same function.";
    f.diff = "-loss = step(params, batch)\n+loss = step(params, pad_to(batch, 512))   # one shape";
    if (function == "<lambda>" || function == "lambda")
      f.diff =
          "-loss = jax.jit(lambda ...)(params, batch)\n+step = jax.jit(...)   # once, before the "
          "loop\n+loss = step(params, batch)";
  } else {
    f.action =
        "Every new shape or Python argument traces the function again, and so does a tf.function "
        "made anew: give it an input signature, pass tensors instead of Python numbers, pad to few "
        "shapes, and make the function once, outside of the loop.";
    f.diff =
        "-@tf.function\n+@tf.function(input_signature=[tf.TensorSpec([None, ...], tf.float32)])";
  }
  return function;
}

void loop_rules(Rules& r) {
  if (!r.loop) return;
  if (r.loop->nothing_ran) {
    not_run(r);
    return;
  }
  compile(r);
  checkpoint(r);
  if (!r.loop->pytorch) callback(r);
  if (!eager_outside(r)) op_by_op(r);
  python(r);
  unrecorded(r);
}

}  // namespace sonde::capture::findings
