// Is the program waiting for input, and which input operation is to blame?
#include <fmt/format.h>

#include "capture/analysis/merged.h"
#include "capture/analysis/ops/input_ops.h"
#include "capture/findings/findings.h"

namespace sonde::capture {
namespace {

Table ops_table(const InputOps& input, size_t steps) {
  Table table{"input_ops", "Input operations on the host"};
  table.columns = {{"opName", "Input op", Type::kText, "", "", "trace_viewer"},
                   {"count", "Count"},
                   {"timeInMs", "Total time", Type::kNumber, "ms", "thread time"},
                   {"timeInPercent", "Total time", Type::kNumber, "fraction", "input self time"},
                   {"selfTimeInMs", "Self time", Type::kNumber, "ms", "thread time"},
                   {"selfTimeInPercent", "Self time", Type::kNumber, "fraction", "input self time"},
                   {"category", "Category", Type::kText}};
  Column per_step{"selfMsPerStep", "Self time per step", Type::kNumber, "ms"};
  per_step.own = true;
  table.columns.push_back(per_step);
  const double total = static_cast<double>(input.self_ps);
  for (const InputOp& op : input.ops) {
    table.rows.push_back(
        {op.name, op.count, static_cast<double>(op.time_ps) / 1e9,
         ratio(static_cast<double>(op.time_ps), total), static_cast<double>(op.self_ps) / 1e9,
         ratio(static_cast<double>(op.self_ps), total), op.category,
         ratio(static_cast<double>(op.self_ps) / 1e9, static_cast<double>(steps))});
  }
  table.property("enqueue_us", fmt::format("{:.3f}", input.enqueue_us));
  table.property("demanded_file_read_us", fmt::format("{:.3f}", input.demanded_us));
  table.property("advanced_file_read_us", fmt::format("{:.3f}", input.advanced_us));
  table.property("preprocessing_us", fmt::format("{:.3f}", input.preprocessing_us));
  table.property("unclassified_nonequeue_us", fmt::format("{:.3f}", input.unclassified_us));
  return table;
}

Table advice_table() {
  Table table{"recommendations", "What helps"};
  table.columns = {{"link", "Advice", Type::kText}};
  for (const char* text :
       {"Enqueue: hand over fewer, larger pieces.",
        "Preprocessing: set num_parallel_calls=tf.data.AUTOTUNE in map(), batch before map() where "
        "the function can take batches, cache() what does not change, or preprocess offline.",
        "Advanced file read: tune prefetch() and interleave(cycle_length=…, "
        "num_parallel_calls=tf.data.AUTOTUNE).",
        "Demanded file read: read ahead with interleave(…, num_parallel_calls=tf.data.AUTOTUNE) "
        "and end the pipeline with prefetch(tf.data.AUTOTUNE).",
        "Other: move reading and preprocessing into tf.data, where it runs beside the step."}) {
    table.rows.push_back({std::string(text)});
  }
  return table;
}

// Which core of a TPU waited longest for its input, by step; xprof's first table.
Table slowest_core_table(const SessionSteps& steps) {
  Table table{"table_0", "Core that took longest"};
  table.columns = {{"index", "Index", Type::kText}};
  table.rows = {{std::string("Step number")}, {std::string("Core name")}};
  // By host and group: the core with the longest span.
  std::vector<std::vector<const Grouping::DeviceStep*>> longest;
  for (const HostAnalysis* host : steps.hosts) {
    const Grouping& grouping = host->grouping();
    auto& of_group = longest.emplace_back(grouping.groups.size(), nullptr);
    for (const auto& span : grouping.device_steps) {
      const Grouping::DeviceStep*& best = of_group[static_cast<size_t>(span.group)];
      if (!best || span.end - span.begin > best->end - best->begin) best = &span;
    }
  }
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const SessionStep& step = steps.steps[i];
    std::string core = "unknown";
    for (size_t h = 0; h < step.by_host.size(); ++h) {
      if (step.by_host[h] != &step.slowest()) continue;
      if (const auto* span = longest[h][static_cast<size_t>(step.by_host[h]->group)])
        core = steps.hosts[h]->trace().track_name(span->plane);
    }
    const std::string number = fmt::format("{}", i);
    table.columns.push_back({number, number, Type::kText});
    table.rows[0].emplace_back(step.name);
    table.rows[1].emplace_back(core);
  }
  return table;
}

Result<Report> input_pipeline(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const SessionSteps steps = session_steps(hosts);
  const Bottleneck bottleneck = conclusion(hosts, steps);
  const InputOps input = input_ops(merged_host_ops(hosts), steps);
  Report report;
  add_step_notes(hosts, report);
  report.figure("input_percent", "Waiting for input", bottleneck.input_percent, "%", "step time");
  if (main_machine(hosts).hardware_type == "TPU")
    report.tables.push_back(slowest_core_table(steps));
  report.tables.push_back(step_table(steps, bottleneck, main_machine(hosts).hardware_type));
  report.tables.push_back(ops_table(input, steps.steps.size()));
  report.tables.push_back(advice_table());
  report.tables.push_back(diagnostics_table(report));
  report.charts.push_back({"step_breakdown",
                           "stack",
                           "step_times",
                           "stepnum",
                           {"deviceComputeTimeMs", "deviceToDeviceTimeMs",
                            "deviceCollectivesTimeMs", "hostComputeTimeMs", "kernelLaunchTimeMs",
                            "infeedTimeMs", "outfeedTimeMs", "compileTimeMs", "otherTimeMs"},
                           ""});
  report.charts.push_back(
      {"input_by_category", "pie", "input_ops", "category", {"selfTimeInMs"}, ""});
  report.findings = input_findings(hosts, steps);
  if (input.ops.empty()) {
    report.missing.push_back({"input operations",
                              "no tf.data iterator, infeed or input stage was recorded",
                              "build the input with tf.data, or annotate its stages; capture with "
                              "host_tracer_level=2"});
  }
  return report;
}

std::string what_is_missing(const Session&) { return {}; }
constexpr std::string_view kTables[] = {"table_0", "step_times", "input_ops", "recommendations",
                                        "diagnostics"};

}  // namespace

extern const Tool kInputPipeline;
const Tool kInputPipeline{"input_pipeline_analyzer", "Input pipeline", input_pipeline,
                          what_is_missing, kTables};

}  // namespace sonde::capture
