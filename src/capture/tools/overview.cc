// The summary: how long a step takes, what it spends the time on, what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/merged.h"
#include "capture/analysis/model_use.h"
#include "capture/analysis/ops/device_rates.h"
#include "capture/analysis/session_steps.h"
#include "capture/findings/findings.h"
#include "capture/tools/framework_unknown.h"

namespace sonde::capture {
namespace {

std::string percent_text(double value) { return fmt::format("{:.1f}%", value); }

Table op_table(const std::vector<const HostAnalysis*>& hosts, const Machine& machine,
               const SessionSteps& steps) {
  Table table{"op_stats", "Device operations that take most time"};
  table.columns = {
      {"selfTimePercent", "Self time", Type::kNumber, "fraction", "device op time"},
      {"cumulativeTimePercent", "Cumulative", Type::kNumber, "fraction", "device op time"},
      {"category", "Category", Type::kText},
      {"operation", "Operation", Type::kText, "", "", "framework_op_stats"},
      {"flopRate", "FLOP rate", Type::kNumber, "GFLOP/s"}};
  const bool gpu = machine.hardware_type == "GPU";
  if (gpu) {
    table.columns.push_back({"tcEligibility", "Could use Tensor Cores", Type::kBool});
    table.columns.push_back({"tcUtilization", "Uses Tensor Cores", Type::kBool});
  }
  const DeviceOps device = merged_device_ops(hosts);
  auto ops = device.on_host ? std::vector<FrameworkOp>{} : framework_ops(device);
  std::stable_sort(ops.begin(), ops.end(), [](const FrameworkOp& a, const FrameworkOp& b) {
    return a.self_ps != b.self_ps ? a.self_ps > b.self_ps : a.name < b.name;
  });
  double total = 0, eager = 0, device_count = 0;
  for (const FrameworkOp& op : ops) {
    total += static_cast<double>(op.self_ps);
    device_count += static_cast<double>(op.occurrences);
    if (op.eager) eager += static_cast<double>(op.self_ps);
  }
  std::set<std::string_view> eligible, used;
  const auto kernels = merged_kernels(hosts);
  for (const Kernel& kernel : kernels) {
    if (kernel.eligible) eligible.insert(kernel.op_name);
    if (kernel.uses_tensor_cores) used.insert(kernel.op_name);
  }
  double cumulative = 0;
  for (size_t i = 0; i < std::min<size_t>(10, ops.size()); ++i) {
    const FrameworkOp& op = ops[i];
    const double fraction = ratio(static_cast<double>(op.self_ps), total);
    cumulative += fraction;
    std::vector<Cell> row{fraction, cumulative, op.type, op.name,
                          ratio(op.flops / 1e9, static_cast<double>(op.time_ps) / 1e12)};
    if (gpu) {
      row.emplace_back(eligible.contains(op.name));
      row.emplace_back(used.contains(op.name));
    }
    table.rows.push_back(std::move(row));
  }
  const HostOps host = merged_host_ops(hosts);
  double host_count = 0, host_eager = 0;
  for (const HostOp& op : host.ops) {
    host_count += static_cast<double>(op.occurrences);
    if (op.eager) host_eager += static_cast<double>(op.self_ps);
  }
  const Bottleneck b = classify(steps, false);
  table.property("device_compute_16bit_percent", percent_text(b.low_precision_percent));
  table.property("device_compute_32bit_percent",
                 percent_text(b.has_compute ? 100 - b.low_precision_percent : 0));
  table.property("host_tf_op_percent",
                 percent_text(100 * ratio(host_count, host_count + device_count)));
  table.property("device_tf_op_percent",
                 percent_text(100 * ratio(device_count, host_count + device_count)));
  table.property("host_op_time_eager_percent",
                 percent_text(100 * ratio(host_eager, static_cast<double>(host.busy_ps))));
  table.property("device_op_time_eager_percent", percent_text(100 * ratio(eager, total)));
  table.property("mxu_utilization_percent", "0.0%");
  table.property("hbm_utilization_percent", "0.0%");
  table.property("host_trace_level", "0");
  table.property("remark_text", "");
  table.property("remark_color", "");
  if (!gpu) {
    const double device_total = device.on_host ? 0 : static_cast<double>(device.total_ps);
    const double idle = device.on_host ? 0 : static_cast<double>(device.idle_ps);
    const double idle_percent = 100 * ratio(idle, device_total);
    table.property("device_idle_time_percent", percent_text(idle_percent));
    const std::string duty = percent_text(100 * ratio(static_cast<double>(device.on_duty_ps),
                                                      static_cast<double>(device.duty_window_ps)));
    table.property("device_duty_cycle_percent", duty);
    table.property("device_duty_cycle_high_confidence_percent", duty);
    table.property(
        "host_idle_time_percent",
        percent_text(device.devices == 0 || device.on_host
                         ? 0
                         : 100 * ratio(static_cast<double>(host.idle_ps),
                                       static_cast<double>(host.idle_ps + host.busy_ps))));
    double flops = 0, bytes = 0;
    for (const DeviceOp& op : device.ops) flops += op.flops, bytes += op.hbm_bytes;
    const double seconds = device_total / 1e12;
    table.property("flop_rate_utilization_relative_to_roofline",
                   percent_text(100 * ratio(ratio(flops / 1e9, seconds), machine.peaks.gflops)));
    table.property(
        "memory_bw_utilization_relative_to_hw_limit",
        percent_text(100 * ratio(ratio(bytes / 1e9, seconds), machine.peaks.hbm_gb_per_s)));
  }
  return table;
}

Table environment_table(const std::vector<const HostAnalysis*>& hosts, const Machine& machine) {
  Table table{"run_environment", "Where it ran"};
  table.columns = {{"host_id", "Host", Type::kText},
                   {"command_line", "Command line", Type::kText},
                   {"start_time", "Start", Type::kText},
                   {"bns_address", "Address", Type::kText}};
  std::set<std::string> names;
  for (const HostAnalysis* host : hosts) {
    const std::string_view recorded = host->trace().host();
    names.insert(recorded.empty() ? host->host().name : std::string(recorded));
  }
  table.property("host_count", fmt::format("{}", names.size()));
  table.property("task_count", fmt::format("{} (num tasks per host = {})", hosts.size(),
                                           ratio(static_cast<double>(hosts.size()),
                                                 static_cast<double>(names.size()))));
  table.property("device_type", machine.device_type);
  table.property("device_core_count", fmt::format("{}", device_count(hosts)));
  table.property("is_training", is_training(hosts) ? "true" : "false");
  return table;
}

Table hosts_table(const std::vector<const HostAnalysis*>& hosts) {
  Table table{"hosts", "Hosts"};
  table.columns = {{"host", "Host", Type::kText},
                   {"start_ns", "Start", Type::kNumber, "ns since 1970"},
                   {"duration_ms", "Duration", Type::kNumber, "ms"},
                   {"slices", "Events"},
                   {"file_bytes", "Capture file", Type::kNumber, "bytes"},
                   {"device", "Device", Type::kText},
                   {"devices", "Devices"},
                   {"versions", "Versions", Type::kText}};
  for (const HostAnalysis* host : hosts) {
    const trace::Trace& trace = host->trace();
    std::string versions;
    for (const trace::Track& track : trace.tracks()) {
      if (track.kind != trace::TrackKind::kProcess) continue;
      for (uint32_t a = 0; a < track.args.count; ++a) {
        const trace::Arg arg = trace.arg(track.args.first + a);
        const std::string_view key = trace.key_name(arg.key);
        if (key.ends_with("_version")) {
          versions += fmt::format("{}{} {}", versions.empty() ? "" : ", ",
                                  key.substr(0, key.size() - 8), trace.printed(arg.value));
        }
      }
    }
    table.rows.push_back({host->host().name, trace.start_ns() ? Cell{*trace.start_ns()} : Cell{},
                          static_cast<double>((trace.last_end() - trace.first_begin()).value) / 1e9,
                          static_cast<int64_t>(trace.slice_count()),
                          static_cast<int64_t>(host->host().file_bytes),
                          host->machine().device_type,
                          static_cast<int64_t>(host->machine().device_count), versions});
  }
  return table;
}

// From the start of a step to the start of the next, on the host that sets the pace: medians of the
// usual steps.
Table period_table(const std::vector<const HostAnalysis*>& hosts, Report& report) {
  Table table{"period", "From one step's start to the next"};
  const HostAnalysis* pace = nullptr;
  loop::Rhythm rhythm;
  for (const HostAnalysis* host : hosts) {
    if (host->loop().periods.size() < 2) continue;
    loop::Rhythm own = loop::rhythm_of(host->loop());
    if (pace && own.usual_ms <= rhythm.usual_ms) continue;
    pace = host;
    rhythm = std::move(own);
  }
  if (!pace || rhythm.mean_ms <= 0) return table;
  const loop::Loop& loop = pace->loop();
  std::vector<double> between;
  for (const loop::Period& p : loop.periods)
    between.push_back(static_cast<double>(p.between_ps) / 1e9);
  report.figure("period_ms", "From one step's start to the next, median", rhythm.period_ms, "ms");
  report.figure("between_steps_ms", "Of it between steps, median", loop::median(between), "ms");
  table.columns = {{"part", "Part", Type::kText},
                   {"mean_ms", "Mean", Type::kNumber, "ms"},
                   {"usual_ms", "Usual step", Type::kNumber, "ms"},
                   {"share", "Share", Type::kNumber, "%", "period"}};
  for (size_t a = 0; a < loop::kActCount; ++a) {
    const auto act = static_cast<loop::Act>(a);
    double mean = 0;
    for (const loop::Period& p : loop.periods)
      mean += static_cast<double>(p.of(act)) / 1e9 / static_cast<double>(loop.periods.size());
    table.rows.push_back({std::string(loop::act_name(act)), mean, loop::usual_ms(loop, rhythm, act),
                          100 * ratio(mean, rhythm.mean_ms)});
  }
  return table;
}

Table advice_table(const Bottleneck& b, bool pytorch, bool nsys) {
  Table table{"recommendations", "Where to look next"};
  table.columns = {{"tip_type", "Kind", Type::kText},
                   {"link", "Tool", Type::kText},
                   {"description", "Why", Type::kText}};
  const auto tip = [&](const char* kind, const char* link, const char* why) {
    table.rows.push_back({std::string(kind), std::string(link), std::string(why)});
  };
  if (nsys) {
    tip("host", "trace_viewer", "what the host threads do between launches");
    tip("host", "critical_path", "what the critical path consists of");
    tip("device", "kernel_stats", "which kernels take most device time");
  } else if (pytorch) {
    tip("host", "torch.operator", "which operators take the time");
    tip("host", "trace_viewer", "what the host threads do during a step");
    tip("device", "torch.kernel", "which kernels take most device time");
  } else {
    tip("host", "input_pipeline_analyzer", "which input operation takes the time");
    tip("host", "tf_data_bottleneck_analysis", "which tf.data stage the step waits for");
    tip("host", "trace_viewer", "what the host threads do during a step");
    tip("device", "framework_op_stats", "which operations take most device time");
  }
  tip("device", "trace_viewer", "where the device is idle during a step");
  table.property("bottleneck", b.where);
  table.property("statement", b.statement);
  table.property("kernel_launch_bottleneck", b.launch);
  table.property("kernel_launch_statement", b.launch_statement);
  table.property("all_other_bottleneck", b.other);
  table.property("all_other_statement", b.other_statement);
  table.property("device_collectives_bottleneck", b.collectives);
  table.property("device_collectives_statement", b.collectives_statement);
  table.property("precision_statement", b.precision_statement);
  table.property("non_bottleneck_tip_types", b.where == "host"     ? "device"
                                             : b.where == "device" ? "host"
                                                                   : "");
  return table;
}

Result<Report> overview(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  if (hosts.empty()) return fail(Code::kNotFound, "the session holds no host");
  Report report;
  const Machine machine = machine_with_peaks(hosts, options, report);
  const SessionSteps steps = session_steps(hosts);
  const Bottleneck bottleneck = conclusion(hosts, steps);
  add_step_notes(hosts, report);
  for (const trace::Diagnostic& d : session.loaded().diagnostics)
    report.diagnostics.push_back({"error", d.text});
  if (steps.empty_intersection)
    report.diagnostics.push_back({"warning", "the hosts have no step in common"});

  std::vector<double> times, inner;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    times.push_back(static_cast<double>(steps.steps[i].duration()) / 1e9);
    if (i > 0 && i + 1 < steps.steps.size()) inner.push_back(times.back());
  }
  const Statistics stats = statistics(times);
  report.figure("steps", "Steps", static_cast<int64_t>(times.size()));
  if (!times.empty()) {
    report.figure("step_time_ms", "Average step time", stats.average, "ms");
    if (times.size() > 5) {
      report.figure("inner_step_time_ms", "Average without the first and the last step",
                    statistics(inner).average, "ms");
    }
    report.figure("step_time_deviation_ms", "Standard deviation", stats.deviation, "ms");
    for (size_t p = 0; p < kPartCount; ++p) {
      const auto part = static_cast<Part>(p);
      report.figure(fmt::format("percent_{}", p + 1), std::string(part_name(part)),
                    steps.percent(part), "%", "step time");
    }
  }
  if (const auto use = model_use(hosts, machine)) {
    report.figure("mfu", "Model FLOPs utilisation", use->percent, "%", use->reference);
    report.figure("model_flop_rate", "Model FLOP rate of a device", use->gflops, "GFLOP/s");
  }
  Table period = period_table(hosts, report);
  report.tables.push_back(op_table(hosts, machine, steps));
  report.tables.push_back(step_table(steps, bottleneck, machine.hardware_type));
  report.tables.push_back(environment_table(hosts, machine));
  report.tables.push_back(advice_table(
      bottleneck,
      std::all_of(hosts.begin(), hosts.end(),
                  [](const HostAnalysis* host) { return host->is_pytorch(); }),
      std::all_of(hosts.begin(), hosts.end(),
                  [](const HostAnalysis* host) { return host->trace().format() == "nsys"; })));
  Table latency{"inference_latency", "Inference latency"};
  latency.columns = {{"percentile", "Percentile", Type::kText},
                     {"hostTimeMs", "Host", Type::kNumber, "ms"},
                     {"deviceTimeMs", "Device", Type::kNumber, "ms"},
                     {"communicationTimeMs", "Communication", Type::kNumber, "ms"},
                     {"totalTimeMs", "Total", Type::kNumber, "ms"}};
  report.tables.push_back(std::move(latency));
  report.tables.push_back(diagnostics_table(report));
  report.tables.push_back(hosts_table(hosts));
  if (!period.rows.empty()) report.tables.push_back(std::move(period));
  report.charts.push_back({"step_breakdown",
                           "stack",
                           "step_times",
                           "stepnum",
                           {"deviceComputeTimeMs", "deviceToDeviceTimeMs",
                            "deviceCollectivesTimeMs", "hostComputeTimeMs", "kernelLaunchTimeMs",
                            "infeedTimeMs", "outfeedTimeMs", "compileTimeMs", "otherTimeMs"},
                           ""});
  report.findings = findings_of(hosts, steps);
  return report;
}

std::string what_is_missing(const Session&) { return {}; }
constexpr std::string_view kTables[] = {"op_stats",        "step_times",        "run_environment",
                                        "recommendations", "inference_latency", "{}",
                                        "diagnostics"};

}  // namespace

extern const Tool kOverview;
const Tool kOverview{"overview_page", "Overview", overview, what_is_missing, kTables};

}  // namespace sonde::capture
