// Time and rates of every HLO op, on devices and, where there is none, of programs compiled for the
// CPU.
#include <fmt/format.h>

#include "capture/analysis/ops/device_rates.h"

namespace sonde::capture {
namespace {

std::string yes_no(bool value) { return value ? "Yes" : "No"; }

Result<Report> hlo_stats(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const DeviceOps device = merged_device_ops(hosts);
  Report report;
  const Machine machine = machine_with_peaks(hosts, options, report);
  Table& table = report.table("hlo_ops", "HLO operations");
  table.columns = {
      {"rank", "Rank"},
      {"program_id", "Program", Type::kText},
      {"category", "Category", Type::kText},
      {"hlo_op_name", "HLO op", Type::kText, "", "", "graph_viewer"},
      {"hlo_op_expression", "Expression", Type::kText},
      {"tf_op_name", "Framework op", Type::kText},
      {"occurrences", "Occurrences"},
      {"total_time", "Total time", Type::kNumber, "us"},
      {"avg_time", "Average time", Type::kNumber, "us"},
      {"total_self_time", "Total self time", Type::kNumber, "us"},
      {"avg_self_time", "Average self time", Type::kNumber, "us"},
      {"total_self_time_percent", "Self time", Type::kNumber, "%", "device time"},
      {"cumulative_total_self_time_percent", "Cumulative", Type::kNumber, "%", "device time"},
      {"dma_stall_percent", "DMA stall", Type::kNumber, "%"},
      {"model_flop_rate", "Model FLOP rate", Type::kNumber, "GFLOP/s"},
      {"normalized_flop_rate", "FLOP rate", Type::kNumber, "GFLOP/s"},
      {"measured_memory_bw", "Memory bandwidth", Type::kNumber, "GiB/s"},
      {"hbm_bw", "HBM bandwidth", Type::kNumber, "GiB/s"},
      {"cmem_read_bw", "CMEM read", Type::kNumber, "GiB/s"},
      {"cmem_write_bw", "CMEM write", Type::kNumber, "GiB/s"},
      {"operational_intensity", "Operational intensity", Type::kNumber, "FLOP/byte"},
      {"bound_by", "Bound by", Type::kText},
      {"hlo_rematerialization", "Rematerialised", Type::kText},
      {"outside_compilation", "Outside compilation", Type::kText},
      {"autotuned", "Autotuned", Type::kText},
      {"source_info", "Source", Type::kText},
      source_stack_column(),
      {"core_type", "Core", Type::kText},
      {"parent_op_name", "Parent", Type::kText},
      {"vdd_energy", "Energy"}};
  double cumulative = 0;
  const double total = static_cast<double>(device.total_ps);
  for (const DeviceOp* op : by_self_time(device)) {
    if (!op->is_hlo || op->occurrences == 0) continue;
    const Rates r = rates_of(*op, op->time_ps, machine.peaks);
    const double n = static_cast<double>(op->occurrences);
    const double percent = 100 * ratio(static_cast<double>(op->self_ps), total);
    cumulative += percent;
    const bool remat = op->expression.find(".remat") != std::string::npos ||
                       op->provenance.find("rematted_computation") != std::string::npos;
    table.rows.push_back({static_cast<int64_t>(table.rows.size() + 1),
                          fmt::format("{}", op->program_id),
                          op->category,
                          op->name,
                          op->expression,
                          op->provenance,
                          op->occurrences,
                          micros(op->time_ps),
                          micros(op->time_ps) / n,
                          micros(op->self_ps),
                          micros(op->self_ps) / n,
                          percent,
                          cumulative,
                          0.0,
                          r.model_gflops,
                          r.gflops,
                          r.gib_per_s,
                          r.hbm_gib_per_s,
                          r.cmem_read,
                          r.cmem_write,
                          r.intensity,
                          machine.peaks.gflops > 0 ? r.bound_by : std::string("Unknown"),
                          yes_no(remat),
                          yes_no(op->provenance.find("outside_compilation") != std::string::npos),
                          std::string("No"),
                          op->source,
                          op->source_stack,
                          std::string(machine.hardware_type == "TPU" ? "TensorCore" : ""),
                          std::string(),
                          0.0});
  }
  report.figure("device_time", "Device time", total / 1e9, "ms");
  report.figure("idle", "Idle", 100 * ratio(static_cast<double>(device.idle_ps), total), "%",
                "device time");
  if (device.on_host && !table.rows.empty())
    report.inferred.push_back(
        "the ops ran on host threads: times are thread time, peaks are unknown");
  report.charts.push_back({"by_category", "pie", "hlo_ops", "category", {"total_self_time"}, ""});
  report.charts.push_back({"by_op", "pie", "hlo_ops", "hlo_op_name", {"total_self_time"}, ""});
  if (table.rows.empty()) {
    report.missing.push_back({"HLO operations",
                              "the capture holds no op of a program compiled by XLA",
                              "use JAX, or tf.function(jit_compile=True)"});
  }
  return report;
}

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const DeviceOp& op : host->device_ops().ops) {
      if (op.is_hlo) return {};
    }
  }
  return "no operation of a program compiled by XLA in this capture";
}

constexpr std::string_view kTables[] = {"hlo_ops"};

}  // namespace

extern const Tool kHloStats;
const Tool kHloStats{"hlo_stats", "HLO op statistics", hlo_stats, what_is_missing, kTables};

}  // namespace sonde::capture
