#include "capture/analysis/model_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/operator_work.h"

namespace sonde::capture {
namespace {

// Of the time of kernels that multiply matrices, at most so much may come from unknown shapes.
constexpr double kMostUnknown = 0.1;

std::string rate_text(double gflops) {
  return gflops >= 1e7   ? fmt::format("{:.2f} PFLOP/s", gflops / 1e6)
         : gflops >= 1e3 ? fmt::format("{:.4g} TFLOP/s", gflops / 1e3)
                         : fmt::format("{:.4g} GFLOP/s", gflops);
}

// A compiled program says what each of its operations computes.
std::optional<ModelUse> of_program(const std::vector<const HostAnalysis*>& hosts,
                                   const Machine& machine) {
  const DeviceOps device = merged_device_ops(hosts);
  if (device.on_host || device.total_ps <= 0 || machine.peaks.gflops <= 0) return std::nullopt;
  double flops = 0, known = 0, all = 0;
  for (const DeviceOp& op : device.ops) {
    if (op.category == "while" || op.category == "call" || op.category == "conditional") continue;
    all += static_cast<double>(op.self_ps);
    if (!op.is_hlo) continue;
    known += static_cast<double>(op.self_ps);
    flops += op.model_flops;
  }
  if (flops <= 0 || known < (1 - kMostUnknown) * all) return std::nullopt;
  ModelUse out;
  out.gflops = flops / 1e9 / (static_cast<double>(device.total_ps) / 1e12);
  out.percent = 100 * out.gflops / machine.peaks.gflops;
  out.reference = rate_text(machine.peaks.gflops);
  return out;
}

struct Sums {
  double flops = 0, at_peak_s = 0, seconds = 0;
  std::array<double, 3> by_precision{};
};

double peak_of(const Peaks& peaks, pytorch::Precision precision, bool in_tensor_cores) {
  if (precision == pytorch::Precision::k8) return peaks.gflops_fp8;
  if (precision == pytorch::Precision::k16) return peaks.gflops_fp16;
  return in_tensor_cores ? peaks.gflops_tf32 : peaks.gflops_fp32;
}

// False where what one worker computed is not known.
bool add_worker(const pytorch::Capture& c, const Machine& machine, bool& in_tensor_cores,
                Sums& sums) {
  const auto work = pytorch::operator_work(c);
  if (work.empty() || c.steps.empty()) return false;
  std::vector<uint32_t> counted(c.nodes.size(), pytorch::kNone);  // the entry around a node
  for (uint32_t i = 0; i < work.size(); ++i) counted[work[i].node] = i;
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    const uint32_t parent = c.nodes[n].parent;
    if (counted[n] == pytorch::kNone && parent != pytorch::kNone) counted[n] = counted[parent];
  }
  double known = 0, unknown = 0, single = 0, single_tensor = 0;
  for (const pytorch::DeviceEvent& event : c.device) {
    if (event.launch == pytorch::kNone) continue;  // of a step before the capture
    const bool has_node = event.node != pytorch::kNone;
    const uint32_t entry = has_node ? counted[event.node] : pytorch::kNone;
    const auto ps = static_cast<double>(event.duration());
    if (entry != pytorch::kNone) {
      known += ps;
      if (work[entry].precision == pytorch::Precision::k32) {
        single += ps;
        if (event.uses_tensor_cores) single_tensor += ps;
      }
    } else if (event.uses_tensor_cores || (has_node && c.nodes[event.node].eligible)) {
      unknown += ps;
    }
  }
  if (known <= 0 || unknown > kMostUnknown * (known + unknown)) return false;
  in_tensor_cores = single_tensor > single / 2;
  for (const pytorch::OperatorWork& one : work) {
    const int64_t at = c.nodes[one.node].begin;
    const bool is_inside = std::ranges::any_of(c.steps, [&](const pytorch::CaptureStep& step) {
      return step.host.begin <= at && at < step.host.end;
    });
    if (!is_inside || c.nodes[one.node].device_ps == 0) continue;
    const double peak = peak_of(machine.peaks, one.precision, in_tensor_cores);
    if (peak <= 0) return false;
    sums.flops += one.flops;
    sums.at_peak_s += one.flops / 1e9 / peak;
    sums.by_precision[static_cast<size_t>(one.precision)] += one.flops;
  }
  double seconds = 0;
  for (const pytorch::CaptureStep& step : c.steps)
    seconds += static_cast<double>(step.extent.length()) / 1e12;
  sums.seconds += seconds * machine.device_count;
  return true;
}

std::optional<ModelUse> of_operators(const std::vector<const HostAnalysis*>& hosts,
                                     const Machine& machine) {
  Sums sums;
  bool in_tensor_cores = false;
  for (const HostAnalysis* host : hosts) {
    Machine own = host->machine();
    own.peaks = machine.peaks;
    if (!add_worker(host->pytorch(), own, in_tensor_cores, sums)) return std::nullopt;
  }
  if (sums.flops <= 0 || sums.seconds <= 0) return std::nullopt;
  const auto most = static_cast<pytorch::Precision>(std::ranges::max_element(sums.by_precision) -
                                                    sums.by_precision.begin());
  const std::string_view name = most == pytorch::Precision::k16  ? "16-bit"
                                : most == pytorch::Precision::k8 ? "8-bit"
                                : in_tensor_cores                ? "TF32"
                                                                 : "32-bit";
  ModelUse out;
  out.gflops = sums.flops / 1e9 / sums.seconds;
  out.percent = 100 * sums.at_peak_s / sums.seconds;
  out.reference =
      fmt::format("{} ({})", rate_text(peak_of(machine.peaks, most, in_tensor_cores)), name);
  return out;
}

}  // namespace

std::optional<ModelUse> model_use(const std::vector<const HostAnalysis*>& hosts,
                                  const Machine& machine) {
  const bool is_pytorch =
      !hosts.empty() &&
      std::ranges::all_of(hosts, [](const HostAnalysis* host) { return host->is_pytorch(); });
  return is_pytorch ? of_operators(hosts, machine) : of_program(hosts, machine);
}

}  // namespace sonde::capture
