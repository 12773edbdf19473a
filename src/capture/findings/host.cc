// Functions of TensorFlow that are traced again.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {

void retracing(Rules& r) {
  const bool told = std::any_of(r.found.begin(), r.found.end(), [](const Finding& f) {
    return f.fired && (f.id == "COMPILE-TIME" || f.id == "EAGER");
  });
  if (told) return;
  for (const HostAnalysis* host : r.hosts) {
    for (const FunctionCalls& calls : function_calls(host->trace(), host->words())) {
      const bool grew =
          calls.first_tracing_count >= 0 && calls.tracing_count > calls.first_tracing_count;
      const double percent = calls.expensive_percent();
      if (!grew && (percent < 20 || calls.calls[0] + calls.calls[2] == 0)) continue;
      // Every function is traced once; where that is in the first step, it is told there.
      const bool once = !grew && calls.calls[2] == 1 && calls.calls[0] == 0;
      if (once && r.loop && r.rhythm.first_only) continue;
      Finding f = make("COMPILE", true, once ? Severity::kInfo : Severity::kMajor);
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
      if (once) {
        f.text = fmt::format("{:.0f}% of the time of function {} went into tracing it, once.",
                             percent, calls.name);
        f.action = "Every function is traced at its first call: start the capture after it.";
        f.diff.clear();
      }
      f.numbers = {{"percent", percent}, {"traces", static_cast<double>(calls.calls[2])}};
      r.found.push_back(std::move(f));
    }
  }
}

}  // namespace sonde::capture::findings
