// GPU kernels: one entry per (kernel, launch shape, framework op).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/grouping.h"
#include "capture/analysis/hlo/module.h"
#include "capture/analysis/machine.h"

namespace sonde::capture {

struct LaunchShape {
  uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  double occupancy_percent = 0;
  bool has_registers = false, has_occupancy = false;
};
LaunchShape parse_launch(std::string_view details);

struct Kernel {
  std::string name, op_name;
  LaunchShape launch;
  bool uses_tensor_cores = false, eligible = false;
  int64_t occurrences = 0, total_ns = 0, min_ns = INT64_MAX, max_ns = 0;
};

// Sorted by total time, longest first.
std::vector<Kernel> kernels_of(const trace::Trace& trace, const Vocabulary& words,
                               const hlo::Modules& modules, const Machine& machine);

bool uses_tensor_cores(std::string_view kernel, const Machine& machine);
bool is_tensor_core_eligible(std::string_view op_name, std::string_view op_type);

}  // namespace sonde::capture
