// What the program itself costs: tracing, eager calls, compilation, Python.
#include <fmt/format.h>

#include "capture/findings/rules.h"

namespace sonde::profile::findings {

void retracing(Rules& r) {
  for (const HostAnalysis* host : r.hosts) {
    for (const FunctionCalls& calls : function_calls(host->trace(), host->words())) {
      const bool grew =
          calls.first_tracing_count >= 0 && calls.tracing_count > calls.first_tracing_count;
      const double percent = calls.expensive_percent();
      if (!grew && (percent < 20 || calls.calls[0] + calls.calls[2] == 0)) continue;
      Finding f = make("COMPILE", true, Severity::kMajor);
      f.text = fmt::format(
          "{:.0f}% of the time of function {} went into tracing or eager calls ({} traced, {} "
          "eager).",
          percent, calls.name, calls.calls[2], calls.calls[0]);
      f.action =
          "Every new shape or Python argument traces the function again: give it an input "
          "signature, pass tensors instead of Python numbers, pad to few shapes.";
      f.diff =
          "-@tf.function\n+@tf.function(input_signature=[tf.TensorSpec([None, ...], "
          "tf.float32)])";
      f.numbers = {{"percent", percent}, {"traces", static_cast<double>(calls.calls[2])}};
      r.found.push_back(std::move(f));
    }
  }
}

void eager(Rules& r) {
  const HostOps ops = merged_host_ops(r.hosts);
  double eager_ps = 0, all = 0;
  for (const HostOp& op : ops.ops) {
    all += static_cast<double>(op.self_ps);
    if (op.eager) eager_ps += static_cast<double>(op.self_ps);
  }
  const double percent = 100.0 * ratio(eager_ps, all);
  Finding f = make("EAGER", percent > 10, Severity::kMajor);
  f.text = fmt::format("{:.1f}% of host op time runs op by op from Python.", percent);
  f.action = "Put the step into one function.";
  f.diff = "+@tf.function\n def train_step(x, y):";
  f.numbers = {{"percent", percent}};
  f.evidence = {{"framework_op_stats", "Eager"}};
  r.found.push_back(std::move(f));
}

void compile(Rules& r) {
  const double percent = r.average.percent(Part::kCompile), ms = r.average.of(Part::kCompile);
  if (ms == 0) return;
  Finding f = make("COMPILE-TIME", percent >= 5, Severity::kMajor);
  f.text = fmt::format("{:.1f} ms a step ({:.0f}%) compile programs.", ms, percent);
  f.action = "Warm up before capturing; keep shapes constant so that nothing is compiled again.";
  f.numbers = {{"compile_ms", ms}};
  gain(f, ms, r.average.step_ms);
  r.found.push_back(std::move(f));
}

void python_gap(Rules& r) {
  const double percent = r.average.percent(Part::kOther), ms = r.average.of(Part::kOther);
  Finding f = make("PY-GAP", r.enough && percent >= 10, Severity::kMajor);
  f.text = fmt::format(
      "{:.1f} of {:.1f} ms of each step ({:.0f}%) show no recorded work on host or device: "
      "Python between the calls, most likely.",
      ms, r.average.step_ms, percent);
  f.action =
      "Capture once with python_tracer_level=1 to see the lines; then move work out of the loop "
      "(callbacks, logging, data conversion) or run several steps per call.";
  f.diff = "-model.compile(...)\n+model.compile(..., steps_per_execution=10)";
  f.numbers = {{"gap_ms", ms}, {"percent", percent}};
  f.evidence = {{"trace_viewer", ""}};
  gain(f, ms, r.average.step_ms);
  r.found.push_back(std::move(f));
}

}  // namespace sonde::profile::findings
