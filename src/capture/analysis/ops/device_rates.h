// Rates of device ops against the machine's peaks: shared by the XLA tools.
#pragma once

#include <string>

#include "capture/analysis/merged.h"

namespace sonde::capture {

struct Rates {
  double gflops = 0, model_gflops = 0;  // GFLOP/s over total time
  double gib_per_s = 0, hbm_gib_per_s = 0;
  double cmem_read = 0, cmem_write = 0, vmem_read = 0, vmem_write = 0;  // GiB/s
  double intensity = 0, hbm_intensity = 0, bottleneck_intensity = 0;    // FLOP/byte
  double compute_share = 0, hbm_share = 0;                              // of the peaks
  std::string bound_by = "Unknown";
  double efficiency() const { return compute_share > hbm_share ? compute_share : hbm_share; }
};

inline Rates rates_of(const DeviceOp& op, int64_t time_ps, const Peaks& peaks) {
  Rates r;
  const double seconds = static_cast<double>(time_ps) / 1e12;
  const auto gib = [&](double bytes) { return ratio(bytes / 1e9, seconds) / kGibPerGb; };
  r.gflops = ratio(op.flops / 1e9, seconds);
  r.model_gflops = ratio(op.model_flops / 1e9, seconds);
  r.gib_per_s = gib(op.bytes);
  r.hbm_gib_per_s = gib(op.hbm_bytes);
  r.cmem_read = gib(op.cmem_read), r.cmem_write = gib(op.cmem_write);
  r.vmem_read = gib(op.vmem_read), r.vmem_write = gib(op.vmem_write);
  r.intensity = ratio(op.flops, op.bytes);
  r.hbm_intensity = ratio(op.flops, op.hbm_bytes);
  r.compute_share = ratio(r.gflops, peaks.gflops);
  r.hbm_share = ratio(r.hbm_gib_per_s * kGibPerGb, peaks.hbm_gb_per_s);
  if (r.compute_share > 0 || r.hbm_share > 0) {
    const bool compute = r.compute_share > r.hbm_share;
    r.bound_by = compute ? "Compute" : "HBM";
    r.bottleneck_intensity = compute ? r.intensity : r.hbm_intensity;
  }
  return r;
}

// Follows the column source_info ("file:line"): the stack that leads there.
inline Column source_stack_column() {
  return {"source_stack", "Source stack", Type::kText, "", "", "", true};
}

// main_machine() with the peaks a person gave instead of the known ones: the parameters peak_gflops
// (GFLOP/s) and peak_gb_per_s (decimal GB/s). Adds a note when there is one.
Machine machine_with_peaks(const std::vector<const HostAnalysis*>& hosts, const Options& options,
                           Report& report);

// Ops by self time, longest first, then by name.
std::vector<const DeviceOp*> by_self_time(const DeviceOps& device);

// Why the XLA tools have nothing to show; empty when they have.
std::string missing_device_ops(const Session& session);

}  // namespace sonde::capture
