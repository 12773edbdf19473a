// GPU kernels by launch shape and op, longest total first; kernels of all hosts and devices are
// counted together.
#include <fmt/format.h>

#include "capture/analysis/merged.h"
#include "capture/analysis/ops/occupancy.h"

namespace sonde::capture {
namespace {

std::string dimensions(const uint32_t (&d)[3]) { return fmt::format("{},{},{}", d[0], d[1], d[2]); }

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (!host->words().gpu_planes.empty() || host->is_pytorch()) return {};
  }
  return "no GPU in this capture";
}

Result<Report> kernel_stats(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const auto kernels = merged_kernels(hosts);
  Report report;
  Table& table = report.table("kernels", "Kernels");
  table.columns = {
      {"rank", "Rank"},
      {"kernel_name", "Kernel", Type::kText, "", "", "trace_viewer"},
      {"registers_per_thread", "Registers per thread"},
      {"shmem_bytes", "Shared memory", Type::kNumber, "bytes"},
      {"block_dim", "Block", Type::kText},
      {"grid_dim", "Grid", Type::kText},
      {"occupancy_pct", "Occupancy", Type::kNumber, "%"},
      {"is_op_tensor_core_eligible", "Op could use Tensor Cores", Type::kBool},
      {"is_kernel_using_tensor_core", "Uses Tensor Cores", Type::kBool},
      {"op_name", "Op", Type::kText, "", "", "framework_op_stats"},
      {"occurrences", "Launches"},
      {"total_duration_us", "Total", Type::kNumber, "us"},
      {"avg_duration_us", "Average", Type::kNumber, "us"},
      {"min_duration_us", "Shortest", Type::kNumber, "us"},
      {"max_duration_us", "Longest", Type::kNumber, "us"},
      {"theoretical_occupancy", "Occupancy possible", Type::kNumber, "%", "", "", true},
      {"occupancy_limiter", "Limited by", Type::kText, "", "", "", true}};
  const Machine& machine = main_machine(hosts);
  double total = 0, tensor_core = 0;
  for (const Kernel& k : kernels) {
    const double us = static_cast<double>(k.total_ns) / 1e3;
    total += us;
    if (k.uses_tensor_cores) tensor_core += us;
    const auto possible =
        theoretical_occupancy(k.launch, machine.compute_major, machine.compute_minor);
    table.rows.push_back({static_cast<int64_t>(table.rows.size() + 1), k.name,
                          static_cast<int64_t>(k.launch.registers),
                          static_cast<int64_t>(k.launch.static_shared + k.launch.dynamic_shared),
                          dimensions(k.launch.block), dimensions(k.launch.grid),
                          k.launch.occupancy_percent, k.eligible, k.uses_tensor_cores, k.op_name,
                          k.occurrences, us, us / static_cast<double>(k.occurrences),
                          static_cast<double>(k.min_ns) / 1e3, static_cast<double>(k.max_ns) / 1e3,
                          possible ? Cell{possible->percent} : Cell{},
                          possible ? std::string(possible->limiter) : std::string()});
  }
  report.figure("kernel_time", "Kernel time", total / 1e3, "ms");
  report.figure("tensor_core_time", "On Tensor Cores", 100.0 * ratio(tensor_core, total), "%",
                "kernel time");
  report.charts.push_back(
      {"by_kernel", "pie", "kernels", "kernel_name", {"total_duration_us"}, ""});
  report.charts.push_back(
      {"tensor_cores", "pie", "kernels", "is_kernel_using_tensor_core", {"total_duration_us"}, ""});
  if (kernels.empty()) {
    const std::string why = what_is_missing(session);
    report.missing.push_back(
        {"GPU kernels", why.empty() ? "the GPU ran no kernel while the capture was on" : why,
         why.empty() ? "capture while the training step runs"
                     : "capture on a machine with a GPU, with device_tracer_level=1"});
  }
  return report;
}

constexpr std::string_view kTables[] = {"kernels"};

}  // namespace

extern const Tool kKernelStats;
const Tool kKernelStats{"kernel_stats", "Kernel statistics", kernel_stats, what_is_missing,
                        kTables};

}  // namespace sonde::capture
