// What the thread that runs the loop does instead of computing: waits for a batch that Python
// makes, compiles, writes checkpoints, waits for callbacks, hands over operations one by one, runs
// Python. Each rule says how much of the time from one step to the next it takes, who it is, and
// what to change in this framework.
#include <fmt/format.h>

#include <algorithm>

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
constexpr double kRowShare = 0.25;

Severity by_share(double share) { return share >= 0.2 ? Severity::kCritical : Severity::kMajor; }

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

void compile(Rules& r) {
  const double ms = r.usual_ms(Act::kCompile), share = ratio(ms, r.rhythm.usual_ms);
  if (r.loop->of(Act::kCompile).empty()) return;
  Finding f = make("COMPILE-TIME", share >= kWorthSaying, by_share(share));
  // The function whose calls the time is in.
  std::string function;
  int64_t most = 0;
  uint32_t times = 0;
  const trace::Trace& trace = r.pace->trace();
  for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kCompile))) {
    const std::string_view name = trace.text(trace.labels()[c.label].name);
    const bool pjit = name.starts_with("PjitFunction(");
    const bool traced =
        !r.loop->pytorch && !pjit && r.pace->words().labels[c.label].event == HostEvent::kUnknown &&
        loop::word_of(name) == loop::Word::kCall && name.find("::") == std::string_view::npos &&
        !name.starts_with("TFE_") && c.count <= r.loop->periods.size() + 1;
    if ((!pjit && !traced) || c.inside_ps <= most) continue;
    most = c.inside_ps;
    times = c.count;
    function = pjit ? std::string(name.substr(13, name.size() - 14)) : std::string(name);
  }
  f.text =
      fmt::format("{} trace and compile{}", r.of_step(ms),
                  function.empty() ? std::string(" programs")
                                   : fmt::format(" the function {} again, {} times in {} steps",
                                                 function, times, r.loop->periods.size()));
  f.text += ".";
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
  for (trace::SliceId s = 0; s < trace.slice_count(); ++s) {
    if (!calls_back[trace.label_id(s)] || trace.duration(s).value <= most) continue;
    most = trace.duration(s).value;
    longest = trace.name(s);
  }
  f.text = fmt::format("{} the compiled step waits for a callback into Python ({}).", r.of_step(ms),
                       longest.empty() ? "callback" : longest);
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

// Calls a period of each name among the outermost ones of the rows.
struct Row {
  double calls = 0;       // a period
  std::string most;       // the operation called most often
  double most_calls = 0;  // a period
};
Row row_of(const Rules& r) {
  Row row;
  const double periods = static_cast<double>(r.loop->periods.size());
  for (const loop::Chain& chain : r.loop->chains) {
    const bool inside =
        chain.begin >= r.loop->periods.front().begin && chain.begin < r.loop->periods.back().end;
    if (inside) row.calls += chain.operations / periods;
  }
  const trace::Trace& trace = r.pace->trace();
  for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kOpByOp))) {
    std::string_view name = trace.text(trace.labels()[c.label].name);
    constexpr std::string_view kLocal = "EagerLocalExecute: ";
    const bool is_op =
        name.starts_with(kLocal) || name.starts_with("PjitFunction(") || name.starts_with("aten::");
    if (!is_op) continue;
    if (name.starts_with(kLocal)) name = name.substr(kLocal.size());
    const double calls = c.count / periods;
    // Views cost nothing by themselves; the operation they are made for is the one to name.
    const bool view = name == "aten::select" || name == "aten::as_strided" || name == "aten::slice";
    const bool better = calls > row.most_calls || row.most == "aten::select";
    if ((view && !row.most.empty()) || !better) continue;
    row.most_calls = calls;
    row.most = name;
  }
  return row;
}

bool reads_scalars(const trace::Trace& trace, const Rules& r, double& calls) {
  calls = 0;
  double others = 0;
  const double periods = static_cast<double>(r.loop->periods.size());
  for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kOpByOp))) {
    const std::string_view name = trace.text(trace.labels()[c.label].name);
    if (name == "aten::item") calls += c.count / periods;
    if (name.starts_with("aten::") && name != "aten::item" && name != "aten::select" &&
        name != "aten::as_strided" && name != "aten::_local_scalar_dense" && name != "aten::to")
      others += c.count / periods;
  }
  return calls >= 20 && calls > 0.5 * others;
}

// Of a usual period, the part of the rows from the first read element to the last: what comes before
// and after may be small operations of the model.
double reading_ms(const trace::Trace& trace, const Rules& r) {
  const trace::Track& track = trace.tracks()[r.loop->thread];
  std::vector<double> each;
  trace::SliceId s = track.first_slice;
  const trace::SliceId last = track.first_slice + track.slices;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    pytorch::Range window{p.end, p.begin};
    for (; s < last && trace.begin(s).value < p.end; ++s) {
      if (trace.begin(s).value < p.begin || trace.name(s) != "aten::item") continue;
      window.begin = std::min(window.begin, trace.begin(s).value);
      window.end = std::max(window.end, trace.end(s).value);
    }
    each.push_back(
        window.end <= window.begin
            ? 0.0
            : static_cast<double>(pytorch::total_inside(r.loop->of(Act::kOpByOp), window)) / 1e9);
  }
  return loop::median(std::move(each));
}

void read_elements(const Rules& r, Finding& f, double ms, double calls) {
  f.id = "ITEM";
  f.text = fmt::format(
      "{} read single elements: {:.0f} calls of aten::item a step, with Python between them.",
      r.of_step(ms), calls);
  f.action =
      "Read a tensor once and all at once (tolist(), or sum() and mean() on the tensor), and keep "
      "numbers as tensors until they are printed.";
  f.diff = "-total = sum(v[i].item() for i in range(len(v)))\n+total = v.sum().item()";
  f.numbers = {{"calls", calls}, {"ms", ms}};
  f.evidence = {{"trace_viewer", "aten::item"}};
  gain(f, ms, r.rhythm.usual_ms);
}

void op_by_op(Rules& r) {
  const double ms = r.usual_ms(Act::kOpByOp), share = ratio(ms, r.rhythm.usual_ms);
  const bool told = std::any_of(r.found.begin(), r.found.end(),
                                [](const Finding& f) { return f.fired && f.id == "OPT-FUSED"; });
  const bool fired = share >= kRowShare && !told;
  Finding f = make(r.loop->pytorch ? "TINY-OPS" : "EAGER", fired, by_share(share));
  if (!fired) {
    f.text = fmt::format("{} hand over small operations one by one.", r.of_step(ms));
    f.numbers = {{"percent", 100 * share}};
    r.found.push_back(std::move(f));
    return;
  }
  const trace::Trace& trace = r.pace->trace();
  const Row row = row_of(r);
  const double each_us = 1e3 * ratio(ms, row.calls);
  double scalars = 0;
  if (r.loop->pytorch && reads_scalars(trace, r, scalars)) {
    read_elements(r, f, std::min(ms, reading_ms(trace, r)), scalars);
    r.found.push_back(std::move(f));
    return;
  }
  f.text = fmt::format(
      "{} go into {:.0f} small operations one at a time ({:.0f} us each with the Python between "
      "them{}).",
      r.of_step(ms), row.calls, each_us,
      row.most.empty() ? "" : fmt::format("; {:.0f} are {}", row.most_calls, row.most));
  if (r.loop->pytorch) {
    f.action =
        "The overhead of a call is larger than its work: let torch.compile fuse them, or write "
        "them as few operations on larger tensors (a fused cell, one batched product).";
    f.diff = "-loss = step(x)\n+step = torch.compile(step)\n+loss = step(x)";
  } else if (r.loop->jax) {
    f.text += " The step is not compiled as a whole.";
    f.action =
        "Compile the whole step with jax.jit: one program instead of one an operation; a loop of "
        "Python over small calls becomes jax.lax.scan or jax.vmap inside it.";
    f.diff = "+@jax.jit\n def step(params, batch):";
  } else {
    f.text += r.loop->compiled ? " They run eagerly, outside of the compiled function."
                               : " The step runs eagerly, without tf.function.";
    f.action = r.loop->keras
                   ? "Let Keras compile the step: no run_eagerly=True (and no "
                     "tf.config.run_functions_eagerly), and put your own step into one tf.function."
                   : "Put the whole step into one function, so that TensorFlow runs it as a graph.";
    f.diff = r.loop->keras ? "-model.compile(..., run_eagerly=True)\n+model.compile(...)"
                           : "+@tf.function\n def train_step(x, y):";
  }
  f.numbers = {{"calls", row.calls}, {"ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", row.most}};
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
  if (!r.loop->has_python) return;
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
                       path.purpose == loop::Purpose::kLoads ? ", which makes the next batch" : "");
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
  if (r.loop->has_python) return;
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
      "Capture once with {} to see the function; then call it less often, or in a background "
      "thread "
      "while the next step runs. {}",
      tracer_name(r), read_ahead(r));
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

}  // namespace

void loop_rules(Rules& r) {
  if (!r.loop) return;
  compile(r);
  checkpoint(r);
  if (!r.loop->pytorch) callback(r);
  op_by_op(r);
  python(r);
  unrecorded(r);
}

}  // namespace sonde::capture::findings
