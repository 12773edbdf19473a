// How close each op comes to what the machine could do: its rate against the compute and memory
// roofs.
#include <fmt/format.h>

#include <algorithm>

#include "capture/analysis/ops/device_rates.h"
#include "capture/analysis/session_steps.h"
#include "capture/findings/findings.h"

namespace sonde::capture {
namespace {

std::string digits(double value) { return fmt::format("{:g}", value); }

std::vector<Column> columns_of(bool tpu) {
  const auto number = [](const char* id, const char* label, const char* unit = "") {
    return Column{id, label, Type::kNumber, unit};
  };
  std::vector<Column> c{{"step", "Step", Type::kText},
                        {"rank", "Rank"},
                        {"category", "Category", Type::kText},
                        {"operation", "Operation", Type::kText, "", "", "hlo_stats"},
                        {"occurrences", "Occurrences"},
                        number("total_time", "Total time", "us"),
                        number("avg_time", "Average time", "us"),
                        number("total_self_time", "Total self time", "us"),
                        number("avg_self_time", "Average self time", "us"),
                        number("total_self_time_percent", "Self time", "fraction"),
                        number("cumulative_total_self_time_percent", "Cumulative", "fraction")};
  if (tpu) c.push_back(number("dma_stall_percent", "DMA stall", "%"));
  c.push_back(number("measured_flop_rate", "FLOP rate", "GFLOP/s"));
  c.push_back(number("model_flop_rate", "Model FLOP rate", "GFLOP/s"));
  c.push_back(number("measured_memory_bw", "Memory bandwidth", "GiB/s"));
  c.push_back(number("hbm_bw", "HBM bandwidth", "GiB/s"));
  if (tpu) {
    c.push_back(number("cmem_read_bw", "CMEM read", "GiB/s"));
    c.push_back(number("cmem_write_bw", "CMEM write", "GiB/s"));
    c.push_back(number("vmem_read_bw", "VMEM read", "GiB/s"));
  }
  c.push_back(number("vmem_write_bw", tpu ? "VMEM write" : "Shared memory", "GiB/s"));
  c.push_back(number("operational_intensity", "Operational intensity", "FLOP/byte"));
  c.push_back(number("hbm_operational_intensity", "HBM intensity", "FLOP/byte"));
  if (tpu) {
    c.push_back(number("cmem_read_operational_intensity", "CMEM read intensity", "FLOP/byte"));
    c.push_back(number("cmem_write_operational_intensity", "CMEM write intensity", "FLOP/byte"));
    c.push_back(number("vmem_read_operational_intensity", "VMEM read intensity", "FLOP/byte"));
  }
  c.push_back(number("vmem_write_operational_intensity",
                     tpu ? "VMEM write intensity" : "Shared memory intensity", "FLOP/byte"));
  c.push_back(
      number("bottleneck_operational_intensity", "Intensity at the bottleneck", "FLOP/byte"));
  c.push_back({"bound_by", "Bound by", Type::kText});
  c.push_back(number("total_time_per_core", "Time per device", "us"));
  c.push_back(number("total_time_in_percentage", "Total time", "fraction"));
  c.push_back(number("optimal_flop_rate", "Rate at the roof", "GFLOP/s"));
  c.push_back(number("roofline_efficiency", "Efficiency", "fraction"));
  c.push_back(number("compute_efficiency", "Compute efficiency", "fraction"));
  c.push_back(number("max_mem_bw_utilization", "Memory efficiency", "fraction"));
  c.push_back({"include_infeed_outfeed", "With infeed and outfeed", Type::kBool});
  c.push_back({"hlo_module_id", "Program", Type::kText});
  c.push_back({"source_info", "Source", Type::kText});
  c.push_back(source_stack_column());
  return c;
}

struct RowContext {
  const Peaks& peaks;
  bool tpu, with_infeed;
  double total, devices;
  std::string step = "Total";
  double steps = 1;  // figures are averages over so many
};

std::vector<Cell> row_of(const DeviceOp& op, int64_t rank, double fraction, double cumulative,
                         const RowContext& context) {
  const Rates r = rates_of(op, op.time_ps, context.peaks);
  const double n = static_cast<double>(op.occurrences);
  const bool program = rank == 0;
  const double self = program ? 0 : micros(op.self_ps);
  const double time = micros(op.time_ps) / context.steps;
  std::vector<Cell> row{context.step,
                        rank,
                        op.category,
                        op.name,
                        op.occurrences,
                        time,
                        ratio(micros(op.time_ps), n),
                        self / context.steps,
                        ratio(self, n),
                        fraction,
                        cumulative};
  if (context.tpu) row.emplace_back(0.0);
  for (const double v : {r.gflops, r.model_gflops, r.gib_per_s, r.hbm_gib_per_s})
    row.emplace_back(v);
  if (context.tpu) {
    for (const double v : {r.cmem_read, r.cmem_write, r.vmem_read}) row.emplace_back(v);
  }
  row.emplace_back(r.vmem_write);
  row.emplace_back(r.intensity);
  row.emplace_back(r.hbm_intensity);
  if (context.tpu) {
    row.emplace_back(ratio(op.flops, op.cmem_read));
    row.emplace_back(ratio(op.flops, op.cmem_write));
    row.emplace_back(ratio(op.flops, op.vmem_read));
  }
  row.emplace_back(ratio(op.flops, op.vmem_write));
  row.emplace_back(r.bottleneck_intensity);
  row.emplace_back(context.peaks.gflops > 0 ? r.bound_by : std::string("Unknown"));
  row.emplace_back(ratio(time, context.devices));
  row.emplace_back(ratio(static_cast<double>(op.time_ps), context.total));
  row.emplace_back(ratio(r.gflops, r.efficiency()));
  row.emplace_back(r.efficiency());
  row.emplace_back(r.compute_share);
  row.emplace_back(r.hbm_share);
  row.emplace_back(context.with_infeed);
  row.emplace_back(fmt::format("{}", program ? 0 : op.program_id));
  row.emplace_back(op.source);
  row.emplace_back(op.source_stack);
  return row;
}

bool is_infeed(const DeviceOp& op) {
  return op.category.starts_with("infeed") || op.category.starts_with("outfeed");
}

enum class Rows : uint8_t { kProgram, kAll };

void add_rows(Table& table, const DeviceOps& device, const RowContext& context, Rows rows) {
  DeviceOp program;
  program.name = program.category = "Program";
  program.occurrences = 1;
  program.time_ps = device.total_ps;
  const auto order = by_self_time(device);
  for (const DeviceOp* op : order) {
    const bool control =
        op->category == "while" || op->category == "call" || op->category == "conditional";
    if (control || (!context.with_infeed && is_infeed(*op))) continue;
    program.flops += op->flops, program.model_flops += op->model_flops;
    program.bytes += op->bytes, program.hbm_bytes += op->hbm_bytes;
    program.cmem_read += op->cmem_read, program.cmem_write += op->cmem_write;
    program.vmem_read += op->vmem_read, program.vmem_write += op->vmem_write;
  }
  table.rows.push_back(row_of(program, 0, 0, 0, context));
  if (rows == Rows::kProgram) return;
  double cumulative = 0;
  int64_t rank = 0;
  for (const DeviceOp* op : order) {
    if (op->occurrences == 0 || (!context.with_infeed && is_infeed(*op))) continue;
    const double fraction = ratio(static_cast<double>(op->self_ps), context.total);
    cumulative += fraction;
    table.rows.push_back(row_of(*op, ++rank, fraction, cumulative, context));
  }
}

// The ops of each step of the session, all hosts together. The first and the last of more than five
// steps are cut off by the capture as a rule and left out of the average.
struct StepOps {
  std::vector<std::pair<std::string, DeviceOps>> steps;
  DeviceOps inner;
  double averaged = 0;
};

StepOps ops_by_step(const std::vector<const HostAnalysis*>& hosts) {
  StepOps result;
  const SessionSteps all = session_steps(hosts);
  if (all.steps.empty()) return result;
  std::vector<std::vector<OpInStep>> parts;
  for (const HostAnalysis* host : all.hosts) {
    parts.push_back(
        device_ops_by_step(host->trace(), host->words(), host->grouping(), host->modules()));
  }
  std::vector<DeviceOps> inner;
  for (size_t i = 0; i < all.steps.size(); ++i) {
    const SessionStep& step = all.steps[i];
    std::vector<DeviceOps> of_hosts;
    for (size_t h = 0; h < step.by_host.size(); ++h) {
      DeviceOps ops = ops_of_step(all.hosts[h]->device_ops(), parts[h], step.by_host[h]->group);
      int64_t busy = 0;
      for (const DeviceOp& op : ops.ops) busy += op.self_ps;
      ops.total_ps = std::max(busy, step.by_host[h]->duration() * int64_t{ops.devices});
      ops.idle_ps = ops.total_ps - busy;
      of_hosts.push_back(std::move(ops));
    }
    DeviceOps merged = merge_ops(of_hosts);
    const bool cut_off = all.steps.size() > 5 && (i == 0 || i + 1 == all.steps.size());
    if (!cut_off) {
      inner.push_back(merged);
      ++result.averaged;
    }
    result.steps.emplace_back(fmt::format("{}", i), std::move(merged));
  }
  result.inner = merge_ops(inner);
  return result;
}

Result<Report> roofline(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const DeviceOps device = merged_device_ops(hosts);
  Report report;
  const Machine machine = machine_with_peaks(hosts, options, report);
  const bool tpu = machine.hardware_type != "GPU";
  const Peaks& p = machine.peaks;
  add_step_notes(hosts, report);
  Table table{"roofline", "Roofline"};
  table.columns = columns_of(tpu);
  if (device.devices != 0) {
    const double devices = device.on_host ? 1 : static_cast<double>(device_count(hosts));
    const StepOps steps = ops_by_step(hosts);
    for (const bool with_infeed : {true, false}) {
      add_rows(table, device, {p, tpu, with_infeed, static_cast<double>(device.total_ps), devices},
               Rows::kAll);
      if (steps.averaged > 0) {
        add_rows(table, steps.inner,
                 {p, tpu, with_infeed, static_cast<double>(steps.inner.total_ps), devices,
                  "Average", steps.averaged},
                 Rows::kAll);
      }
      for (const auto& [name, ops] : steps.steps) {
        add_rows(table, ops,
                 {p, tpu, with_infeed, static_cast<double>(ops.total_ps), devices, name},
                 Rows::kProgram);
      }
    }
  }
  table.property("device_type", machine.hardware_type == "CPU_ONLY" ? "" : machine.device_type);
  table.property("peak_flop_rate", digits(p.gflops));
  table.property("peak_hbm_bw", digits(p.hbm_gb_per_s / kGibPerGb));
  table.property("hbm_ridge_point", digits(ratio(p.gflops, p.hbm_gb_per_s)));
  const double write = tpu ? p.vmem_write : p.shared_gb_per_s;
  table.property("peak_vmem_write_bw", digits(write / kGibPerGb));
  table.property("vmem_write_ridge_point", digits(ratio(p.gflops, write)));
  if (tpu) {
    table.property("peak_vmem_read_bw", digits(p.vmem_read / kGibPerGb));
    table.property("vmem_read_ridge_point", digits(ratio(p.gflops, p.vmem_read)));
    table.property("peak_cmem_read_bw", digits(p.cmem_read / kGibPerGb));
    table.property("peak_cmem_write_bw", digits(p.cmem_write / kGibPerGb));
    table.property("cmem_read_ridge_point", digits(ratio(p.gflops, p.cmem_read)));
    table.property("cmem_write_ridge_point", digits(ratio(p.gflops, p.cmem_write)));
    table.property("has_cmem", p.cmem_read > 0 ? "1" : "0");
    const bool v6 = machine.hardware_type == "TPU";
    table.property("has_merged_vmem", v6 ? "1" : "0");
    table.property("megacore", "0");
    table.property("time_scale_multiplier", v6 ? "1" : "0");
  }
  report.figure("peak_flop_rate", "Peak", p.gflops, "GFLOP/s");
  if (p.gflops_fp32 > 0) {
    report.figure("peak_fp32", "Peak, 32-bit", p.gflops_fp32, "GFLOP/s");
    report.figure("peak_tf32", "Peak, TF32", p.gflops_tf32, "GFLOP/s");
    report.figure("peak_fp16", "Peak, 16-bit", p.gflops_fp16, "GFLOP/s");
  }
  report.figure("peak_hbm", "Memory bandwidth", p.hbm_gb_per_s, "GB/s");
  if (device.on_host && !table.rows.empty())
    report.inferred.push_back("the ops ran on host threads: rates are shown, the roof is unknown");
  const bool is_estimated = std::ranges::any_of(
      device.ops, [](const DeviceOp& op) { return !op.is_hlo && op.bytes > 0; });
  if (is_estimated)
    report.inferred.push_back(
        "operations and bytes of an operator follow from the shapes of its operands, each moved "
        "once");
  report.charts.push_back({"roofline",
                           "scatter",
                           "roofline",
                           "hbm_operational_intensity",
                           {"measured_flop_rate"},
                           "bound_by"});
  if (table.rows.empty()) {
    report.missing.push_back({"device operations", missing_device_ops(session),
                              "capture on a GPU or TPU, or a program compiled by XLA"});
  }
  report.tables.push_back(std::move(table));
  report.tables.push_back(diagnostics_table(report));
  return report;
}

constexpr std::string_view kTables[] = {"roofline", "diagnostics"};

}  // namespace

extern const Tool kRoofline;
const Tool kRoofline{"roofline_model", "Roofline", roofline, missing_device_ops, kTables};

}  // namespace sonde::capture
