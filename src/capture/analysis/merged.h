// The hosts' results put together, for tools that answer for several hosts at once.
#pragma once

#include <vector>

#include "capture/analysis/analysis.h"

namespace sonde::capture {

HostOps merged_host_ops(const std::vector<const HostAnalysis*>& hosts);
std::vector<FrameworkOp> merged_framework_ops(const std::vector<const HostAnalysis*>& hosts);
std::vector<Kernel> merged_kernels(const std::vector<const HostAnalysis*>& hosts);
// Pointers into the hosts' modules stay valid as long as the session.
DeviceOps merged_device_ops(const std::vector<const HostAnalysis*>& hosts);
DeviceOps merge_ops(const std::vector<DeviceOps>& parts);
// Of the first host that has a device.
const Machine& main_machine(const std::vector<const HostAnalysis*>& hosts);
uint32_t device_count(const std::vector<const HostAnalysis*>& hosts);
bool is_training(const std::vector<const HostAnalysis*>& hosts);

// Steps unknown, or derived rather than marked: the notes every step-based tool owes its reader.
void add_step_notes(const std::vector<const HostAnalysis*>& hosts, Report& report);

inline double micros(int64_t ps) { return static_cast<double>(ps) / 1e6; }
inline double ratio(double a, double b) { return b == 0 ? 0.0 : a / b; }

}  // namespace sonde::capture
