// Time by framework op, on the devices and on the host. Host times are thread time: work of
// parallel threads adds up. Nothing is cut off.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

struct Row {
  bool device;
  std::string type, name;
  int64_t occurrences, time_ps, self_ps;
  double flops, model_flops, bytes;
  bool eager;
};

std::string bound_by(double gflops, double gib_per_s, const Peaks& peaks) {
  const double compute = ratio(gflops, peaks.gflops);
  const double memory = ratio(gib_per_s, peaks.hbm_gb_per_s / kGibPerGb);
  if (compute == 0 && memory == 0) return "Unknown";
  return compute > memory ? "Compute" : "HBM";
}

void by_self_time(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.self_ps != b.self_ps ? a.self_ps > b.self_ps : a.name < b.name;
  });
}

Table make_table(std::string_view id, std::string_view title, std::vector<Row> device,
                 std::vector<Row> host, const Machine& machine,
                 const std::vector<Kernel>& kernels) {
  const bool gpu = machine.hardware_type == "GPU";
  Table table{std::string(id), std::string(title)};
  table.columns = {{"rank", "Rank"},
                   {"host_or_device", "Host or device", Type::kText},
                   {"type", "Type", Type::kText},
                   {"operation", "Operation", Type::kText, "", "", "trace_viewer"},
                   {"occurrences", "Occurrences"},
                   {"total_time", "Total time", Type::kNumber, "us"},
                   {"avg_time", "Average time", Type::kNumber, "us"},
                   {"total_self_time", "Total self time", Type::kNumber, "us"},
                   {"avg_self_time", "Average self time", Type::kNumber, "us"},
                   {"device_total_self_time_percent", "Self time on device", Type::kNumber,
                    "fraction", "device time"},
                   {"device_cumulative_total_self_time_percent", "Cumulative on device",
                    Type::kNumber, "fraction", "device time"},
                   {"host_total_self_time_percent", "Self time on host", Type::kNumber, "fraction",
                    "host thread time"},
                   {"Host_cumulative_total_self_time_percent", "Cumulative on host", Type::kNumber,
                    "fraction", "host thread time"},
                   {"host_cumulative_total_self_time_percent", "Cumulative on host", Type::kNumber,
                    "fraction", "host thread time", "", true},
                   {"measured_flop_rate", "FLOP rate", Type::kNumber, "GFLOP/s"},
                   {"model_flop_rate", "Model FLOP rate", Type::kNumber, "GFLOP/s"},
                   {"measured_memory_bw", "Memory bandwidth", Type::kNumber, "GiB/s"},
                   {"operational_intensity", "Operational intensity", Type::kNumber, "FLOP/byte"}};
  if (gpu) {
    table.columns.push_back({"gpu_tensorcore_utilization", "Tensor Core use", Type::kNumber,
                             "fraction", "kernel time of the op"});
  }
  table.columns.push_back({"bound_by", "Bound by", Type::kText});
  table.columns.push_back({"eager", "Eager", Type::kText});
  std::map<std::string_view, std::pair<int64_t, int64_t>> tensor_core;  // with, all
  for (const Kernel& kernel : kernels) {
    auto& [with, all] = tensor_core[kernel.op_name];
    all += kernel.total_ns;
    if (kernel.uses_tensor_cores) with += kernel.total_ns;
  }
  int64_t rank = 0;
  for (auto* rows : {&device, &host}) {
    by_self_time(*rows);
    double total = 0;
    for (const Row& row : *rows) total += static_cast<double>(row.self_ps);
    double cumulative = 0;
    for (const Row& row : *rows) {
      const double n = static_cast<double>(row.occurrences);
      const double fraction = ratio(static_cast<double>(row.self_ps), total);
      cumulative += fraction;
      const double seconds = static_cast<double>(row.time_ps) / 1e12;
      const double rate = ratio(row.flops / 1e9, seconds);
      const double bandwidth = ratio(row.bytes / 1e9, seconds) / kGibPerGb;
      std::vector<Cell> cells{++rank,
                              std::string(row.device ? "Device" : "Host"),
                              row.type,
                              row.name,
                              row.occurrences,
                              micros(row.time_ps),
                              ratio(micros(row.time_ps), n),
                              micros(row.self_ps),
                              ratio(micros(row.self_ps), n),
                              row.device ? fraction : 0.0,
                              row.device ? cumulative : 0.0,
                              row.device ? 0.0 : fraction,
                              row.device ? 0.0 : cumulative,
                              row.device ? 0.0 : cumulative,
                              rate,
                              ratio(row.model_flops / 1e9, seconds),
                              bandwidth,
                              ratio(row.flops, row.bytes)};
      if (gpu) {
        const auto found = tensor_core.find(row.name);
        cells.emplace_back(!row.device || found == tensor_core.end()
                               ? 0.0
                               : ratio(static_cast<double>(found->second.first),
                                       static_cast<double>(found->second.second)));
      }
      cells.emplace_back(bound_by(rate, bandwidth, machine.peaks));
      cells.emplace_back(std::string(row.eager ? "Eager" : "Function"));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Result<Report> op_stats(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const HostOps host = merged_host_ops(hosts);
  const DeviceOps device = merged_device_ops(hosts);
  const Machine& machine = main_machine(hosts);
  const auto kernels = merged_kernels(hosts);
  std::vector<Row> device_rows, host_rows;
  if (!device.on_host) {
    for (const FrameworkOp& op : framework_ops(device)) {
      device_rows.push_back({true, op.type, op.name, op.occurrences, op.time_ps, op.self_ps,
                             op.flops, op.model_flops, op.bytes, op.eager});
    }
  }
  for (const HostOp& op : host.ops) {
    host_rows.push_back(
        {false, op.type, op.name, op.occurrences, op.time_ps, op.self_ps, 0, 0, 0, op.eager});
  }
  std::vector<Row> device_idle = device_rows, host_idle = host_rows;
  if (!device.on_host) {
    device_idle.push_back(
        {true, "IDLE", "IDLE", 0, device.idle_ps, device.idle_ps, 0, 0, 0, false});
  }
  host_idle.push_back({false, "IDLE", "IDLE", 0, host.idle_ps, host.idle_ps, 0, 0, 0, false});
  Report report;
  report.tables.push_back(make_table("with_idle", "Operations, idle time included", device_idle,
                                     host_idle, machine, kernels));
  report.tables.push_back(
      make_table("without_idle", "Operations", device_rows, host_rows, machine, kernels));
  for (Table& table : report.tables) {
    table.property("task_type", is_training(hosts) ? "Training" : "Inference");
    table.property("architecture_type", "Unknown");
  }
  report.figure("host_op_time", "Host time in ops", micros(host.busy_ps) / 1e3, "ms",
                "thread time");
  report.figure("device_op_time", "Device time in ops",
                device.on_host ? 0.0 : micros(device.total_ps - device.idle_ps) / 1e3, "ms",
                "device time");
  report.charts.push_back(
      {"by_type", "pie", "without_idle", "type", {"total_self_time"}, "host_or_device"});
  report.charts.push_back(
      {"by_operation", "pie", "without_idle", "operation", {"total_self_time"}, "host_or_device"});
  if (device_rows.empty() && host_rows.empty()) {
    report.missing.push_back(
        {"framework operations", "no host event is named like an op and no device op was recorded",
         "capture with host_tracer_level=2 or higher, and with the device tracer on"});
  }
  return report;
}

std::string what_is_missing(const Session&) { return {}; }
constexpr std::string_view kTables[] = {"with_idle", "without_idle"};

}  // namespace

extern const Tool kOpStats;
const Tool kOpStats{"framework_op_stats", "Framework op statistics", op_stats, what_is_missing,
                    kTables};

}  // namespace sonde::capture
