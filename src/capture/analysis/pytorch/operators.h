// Operators of a PyTorch capture added up by name, by name and input shapes, or by name and call
// stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

struct OperatorTotal {
  std::string_view name;  // lives in the trace
  std::string shapes;     // "[[32, 3], []]"; of the first call where not grouped by it
  std::string stack;      // innermost frame first, separated by ";"
  bool eligible = false, has_stack = false;
  int64_t calls = 0;
  int64_t host_ps = 0, self_host_ps = 0, launch_ps = 0;
  int64_t outermost_ps = 0;  // host time without calls inside a call of the same name
  int64_t device_ps = 0, self_device_ps = 0, tensor_core_ps = 0, self_tensor_core_ps = 0;

  double self_ratio() const {
    return self_device_ps > 0
               ? static_cast<double>(self_tensor_core_ps) / static_cast<double>(self_device_ps)
               : 0;
  }
  double total_ratio() const {
    return device_ps > 0 ? static_cast<double>(tensor_core_ps) / static_cast<double>(device_ps) : 0;
  }
};

enum class GroupBy : uint8_t { kName, kNameAndShapes, kNameAndStack };
std::vector<OperatorTotal> operator_totals(const Capture& capture, GroupBy by);

}  // namespace sonde::capture::pytorch
