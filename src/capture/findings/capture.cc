// The capture: steps that are not marked, events that are lost.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {

namespace {

void empty(Rules& r, const HostAnalysis& host) {
  Finding f = make("EMPTY", true, Severity::kCritical);
  f.text = fmt::format("The capture of {} is empty: not one event is in it.", host.host().name);
  f.action =
      "Capture again while the program runs steps, and let the profiler stop (and write) before "
      "the program ends.";
  r.found.push_back(std::move(f));
}

// The first thing an importer says that means something is missing; null when all was read.
const trace::Diagnostic* trouble_of(const trace::Trace& trace) {
  const auto& notes = trace.diagnostics();
  const auto trouble = std::find_if(notes.begin(), notes.end(), [](const auto& note) {
    return note.severity != trace::Diagnostic::Severity::kInfo;
  });
  return trouble == notes.end() ? nullptr : &*trouble;
}

}  // namespace

void no_steps(Rules& r) {
  for (const HostAnalysis* host : r.hosts) {
    const bool none = host->steps().steps.empty();
    const std::string& rule = host->grouping().derived_rule;
    if (!none && rule.empty()) continue;
    if (host->trace().slice_count() == 0) {
      if (!trouble_of(host->trace())) empty(r, *host);  // data_loss() names the damage
      continue;
    }
    // Of a file that was cut short, marks may be what is missing.
    const auto& notes = host->trace().diagnostics();
    if (none && std::any_of(notes.begin(), notes.end(), [](const auto& note) {
          return note.text.find("cut off") != std::string::npos ||
                 note.text.find("ends early") != std::string::npos;
        }))
      continue;
    Finding f = make("NO-STEPS", true, Severity::kInfo);
    f.text =
        none ? fmt::format("0 steps are marked in the capture of {}, and none could be derived.",
                           host->host().name)
             : fmt::format("{} steps were derived from {}, since the program marked none.",
                           host->steps().steps.size(), rule);
    f.action = "Mark the steps, so that every tool can tell them apart.";
    f.diff = r.jax ? "+with jax.profiler.StepTraceAnnotation('train', step_num=step):\n"
                     "     train_step(...)"
                   : "+with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n"
                     "     train_step(...)";
    r.found.push_back(std::move(f));
    return;
  }
}

void data_loss(Rules& r) {
  for (const HostAnalysis* host : r.hosts) {
    const trace::Trace& trace = host->trace();
    double dropped = 0;
    for (const trace::Track& track : trace.tracks()) {
      if (const auto value = trace.find(track.args, trace.key("dropped_traces")))
        dropped += value->as_double();
    }
    const trace::Diagnostic* const trouble = trouble_of(trace);
    if (dropped == 0 && !trouble) continue;
    // What is not in the file is missing from every number below.
    const bool skipped = dropped == 0 && trouble->text.find("was skipped") != std::string::npos;
    const bool lost = dropped == 0 && !skipped;
    Finding f = make("DATA-LOSS", true, lost ? Severity::kCritical : Severity::kMinor);
    f.text = dropped > 0 ? fmt::format("{:.0f} events were dropped by the profiler on {}.", dropped,
                                       host->host().name)
             : skipped   ? fmt::format("Not all of the capture of {} is shown: {}.",
                                       host->host().name, trouble->text)
                         : fmt::format("The capture of {} is not complete: {}.", host->host().name,
                                       trouble->text);
    f.action =
        skipped ? "These events are of a kind that no table here needs; all others were read."
        : lost  ? "The file is damaged or was cut short: copy it again from where it was written, "
                  "or capture again and let the profiler finish before the program ends."
                : "Capture for a shorter time, or with lower tracer levels.";
    f.evidence = {{"xspace_digest", ""}};
    r.found.push_back(std::move(f));
  }
}

}  // namespace sonde::capture::findings
