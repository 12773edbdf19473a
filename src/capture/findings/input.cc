// Waiting for data: how long, and the stage of tf.data that is too slow.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/tf_data_pipelines.h"
#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

// Of a period: what asking for a batch costs in a program whose pipeline keeps up.
constexpr double kHandingOver = 10;  // percent

// The pipeline stage that the slow calls of all pipelines wait for, by blocking self time.
struct Stage {
  IteratorInfo info;
  double self_ms = 0;
  bool found = false, python = false, ends_with_prefetch = false, has_pipeline = false;
};
Stage slowest_stage(const Rules& r) {
  Stage stage;
  for (const HostAnalysis* host : r.hosts) {
    const TfData data = tf_data_of(*host);
    for (const Pipeline& pipeline : data.pipelines) {
      if (pipeline.on_device) continue;
      stage.has_pipeline = true;
      std::map<uint64_t, int64_t> waits;
      for (const PipelineCall& call : pipeline.calls) {
        if (call.duration_ps <= kSlowCallPs) continue;
        // A prefetch that waits is not the cause: what it waits for is.
        uint64_t cause = 0;
        int64_t most = -1;
        for (const auto& [id, stat] : call.iterators) {
          const auto info = data.iterators.find(id);
          if (info == data.iterators.end()) continue;
          const bool buffer = without_version(info->second.name) == "Prefetch";
          if (buffer || info->second.name == "Root" || info->second.name == "Model") continue;
          if (stat.self_ps > most) most = stat.self_ps, cause = id;
        }
        if (most >= 0) waits[cause] += most;
      }
      // Producers of a buffer may run outside the caller's spans: fall back to all of them.
      for (const auto& [id, ps] : waits) {
        const double ms =
            static_cast<double>(ps) / 1e9 / static_cast<double>(pipeline.calls.size());
        if (ms <= stage.self_ms) continue;
        stage.self_ms = ms;
        stage.info = data.iterators.at(id);
        stage.found = true;
        stage.python = data.python_calls > 0;
      }
      for (const auto& [id, info] : data.iterators) {
        if (info.parent_id != pipeline.root) continue;
        stage.ends_with_prefetch |=
            without_version(info.name) == "Prefetch" && !info.node.starts_with("inject/");
      }
    }
  }
  return stage;
}

}  // namespace

void input_wait(Rules& r) {
  const double ms = r.loop ? r.usual_ms(loop::Act::kInput) : r.average.of(Part::kInput);
  const double step_ms = r.loop ? r.rhythm.usual_ms : r.average.step_ms;
  const double percent = 100.0 * ratio(ms, step_ms);
  Finding f = make("IN-WAIT", r.enough && percent >= 5,
                   percent >= 20 ? Severity::kCritical : Severity::kMajor);
  f.numbers = {{"input_ms", ms}, {"step_ms", step_ms}, {"percent", percent}};
  f.text =
      (r.loop ? r.of_step(ms)
              : fmt::format("{:.1f} of {:.1f} ms of each step ({:.0f}%)", ms, step_ms, percent)) +
      " wait for input";
  if (!f.fired) {
    f.text += ".";
    r.found.push_back(std::move(f));
    return;
  }
  const Stage stage = slowest_stage(r);
  // Of a short wait, a stage that takes next to nothing is not the cause: handing the batch over is.
  const bool handed = stage.found && ms < 1 && stage.self_ms < 0.5 * ms;
  if (handed) {
    f.text += fmt::format(
        "; no stage of tf.data takes that long itself (most: {}, {:.3f} ms a batch), so it is what "
        "asking for a batch costs.",
        stage.info.name, stage.self_ms);
    f.action = "Ask less often: larger batches, or several steps in one call of the function.";
    f.numbers.emplace_back("stage_ms", stage.self_ms);
    if (percent < kHandingOver) f.severity = Severity::kInfo;
  } else if (stage.found) {
    f.text +=
        fmt::format("; the stage that is too slow is {} ({}), {:.{}f} ms a batch.", stage.info.name,
                    stage.info.long_name, stage.self_ms, stage.self_ms < 1 ? 2 : 1);
    const Remedy remedy = remedy_for(stage.info, stage.python);
    f.action = remedy.text + ".";
    f.diff = remedy.code;
    f.numbers.emplace_back("stage_ms", stage.self_ms);
    f.evidence.push_back({"tf_data_bottleneck_analysis", std::string(stage.info.long_name)});
  } else if (stage.has_pipeline) {
    f.text += ".";
    f.action =
        "End the pipeline with prefetch, so that the next batch is made while the step runs.";
    f.diff = "+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
  } else {
    f.text += "; the capture shows no tf.data stage.";
    f.action = "Build the input with tf.data and read ahead, so that input runs beside the step.";
    f.diff = "+dataset = dataset.prefetch(tf.data.AUTOTUNE)";
  }
  if (!handed && stage.has_pipeline && !stage.ends_with_prefetch &&
      f.diff.find("prefetch") == std::string::npos)
    f.diff += "\n+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
  f.evidence.push_back({"input_pipeline_analyzer", ""});
  if (f.severity != Severity::kInfo) gain(f, ms, step_ms);
  r.found.push_back(std::move(f));
}

std::string slow_stage(const Rules& r, Finding& f) {
  const Stage stage = slowest_stage(r);
  if (!stage.found) return "";
  const Remedy remedy = remedy_for(stage.info, stage.python);
  f.action = remedy.text + ".";
  f.diff = remedy.code;
  f.evidence = {{"tf_data_bottleneck_analysis", std::string(stage.info.long_name)}};
  return fmt::format("{} ({})", stage.info.name, stage.info.long_name);
}

void first_step(Rules& r) {
  if (r.average.steps < 2) return;
  if (r.loop && r.rhythm.first_only) return;  // told by periodic()
  std::vector<int64_t> rest;
  for (size_t i = 1; i < r.steps.steps.size(); ++i)
    rest.push_back(r.steps.steps[i].slowest().part(Part::kInput));
  std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2),
                   rest.end());
  const double median = static_cast<double>(rest[rest.size() / 2]) / 1e9;
  const double first = static_cast<double>(r.steps.steps[0].slowest().part(Part::kInput)) / 1e9;
  Finding f = make("IN-FIRST-STEP", first > 10 * median && first > 1, Severity::kInfo);
  f.text = fmt::format("{:.1f} ms of the first step wait for input, {:.2f} ms of a usual one.",
                       first, median);
  f.action =
      "Filling a shuffle buffer or opening files, most likely; leave the first step out of "
      "averages, and shuffle file names rather than elements if it happens often.";
  f.numbers = {{"first_ms", first}, {"median_ms", median}};
  r.found.push_back(std::move(f));
}

void prefetch_empty(Rules& r) {
  int64_t calls = 0, empty = 0;
  for (const HostAnalysis* host : r.hosts) {
    const trace::Trace& trace = host->trace();
    const trace::KeyId buffered = trace.key("buffered_elements");
    if (buffered == trace::kNone) continue;
    for (trace::SliceId s = 0; s < trace.slice_count(); ++s) {
      const std::string_view name = trace.name(s);
      if (!name.starts_with("Iterator::") || !name.ends_with("::Prefetch")) continue;
      if (std::count(name.begin(), name.end(), ':') != 4) continue;  // the last stage only
      ++calls;
      const auto value = trace.find(trace.args(s), buffered);
      empty += !value || value->as_int() == 0;
    }
  }
  if (calls < 3) return;
  const double percent = 100.0 * static_cast<double>(empty) / static_cast<double>(calls);
  const double waits = r.loop ? 100 * ratio(r.usual_ms(loop::Act::kInput), r.rhythm.usual_ms)
                              : r.average.percent(Part::kInput);
  Finding f = make("IN-PREFETCH-EMPTY", percent > 50 && waits >= 5, Severity::kMinor);
  f.text = fmt::format("In {:.0f}% of {} calls the prefetch buffer was empty.", percent, calls);
  f.action = "The stages before it are slower than the step; a larger buffer does not help.";
  f.numbers = {{"percent", percent}};
  f.evidence = {{"tf_data_bottleneck_analysis", ""}};
  r.found.push_back(std::move(f));
}

}  // namespace sonde::capture::findings
