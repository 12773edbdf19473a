#include "capture/analysis/ops/device_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sonde::capture {
namespace {

// A positive number in the parameter, or `known`.
double given(const Options& options, std::string_view name, double known) {
  const std::string text(options.parameter(name));
  const double value = std::strtod(text.c_str(), nullptr);
  return std::isfinite(value) && value > 0 ? value : known;
}

}  // namespace

Machine machine_with_peaks(const std::vector<const HostAnalysis*>& hosts, const Options& options,
                           Report& report) {
  Machine machine = main_machine(hosts);
  const Peaks known = machine.peaks;
  machine.peaks.gflops = given(options, "peak_gflops", known.gflops);
  machine.peaks.hbm_gb_per_s = given(options, "peak_gb_per_s", known.hbm_gb_per_s);
  if (machine.peaks.gflops != known.gflops || machine.peaks.hbm_gb_per_s != known.hbm_gb_per_s) {
    report.inferred.push_back(fmt::format("peaks as given: {:g} GFLOP/s, {:g} GB/s",
                                          machine.peaks.gflops, machine.peaks.hbm_gb_per_s));
  }
  return machine;
}

std::vector<const DeviceOp*> by_self_time(const DeviceOps& device) {
  std::vector<const DeviceOp*> order;
  for (const DeviceOp& op : device.ops) order.push_back(&op);
  std::stable_sort(order.begin(), order.end(), [](const DeviceOp* a, const DeviceOp* b) {
    return a->self_ps != b->self_ps ? a->self_ps > b->self_ps : a->name < b->name;
  });
  return order;
}

std::string missing_device_ops(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (!host->device_ops().ops.empty()) return {};
  }
  return "no operation of a compiled program (XLA) and no device op in this capture";
}

}  // namespace sonde::capture
