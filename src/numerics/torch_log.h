// Logs of torch's DebugMode (torch.utils._debug_mode, save_logs): one call of an op after the other,
// with the norms of what went in and came out where log_tensor_hashes was on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "numerics/first_fault.h"

namespace sonde::numerics {

struct LoggedCall {
  std::string op;      // "aten::log"
  std::string output;  // "t: f32[4, 2]"
  std::string module;  // the innermost nn.Module around it
  Place where;
  uint8_t bad = kNone;         // of what came out
  uint8_t bad_input = kNone;   // of what went in
  std::optional<double> norm;  // of what came out, when it is a finite number
  bool has_hash = false;
};

struct TorchLog {
  std::vector<LoggedCall> calls;
  size_t hashed = 0;  // calls whose results were hashed
};

// By its first bytes.
bool is_torch_log(std::string_view text);
Result<TorchLog> parse_torch_log(std::string_view text);

std::optional<Fault> first_fault(const TorchLog& log);
std::string healthy_sentence(const TorchLog& log);

// The first call in which two logs of one program differ: "…"; empty when they agree.
std::string first_difference(const TorchLog& a, const TorchLog& b, double tolerance);

}  // namespace sonde::numerics
