#include "capture/analysis/ops/input_ops.h"

#include <algorithm>

namespace sonde::capture {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto e) { return text.ends_with(e); });
}
bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](auto p) { return text.find(p) != std::string_view::npos; });
}

std::string category_of(const HostOp& op) {
  if (op.is_stage) {
    if (op.type == "enqueue") return "Enqueue";
    if (op.type == "read") return "Demanded file read";
    if (op.type == "preprocessing") return "Preprocessing";
    return "Unknown";
  }
  if (op.type.starts_with("InfeedEnqueue") || op.type == "MemcpyHToD") return "Enqueue";
  // Versions of an op read like the op itself.
  std::string_view name = op.name;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  if (name.size() < op.name.size() && name.ends_with('V')) {
    name.remove_suffix(1);
  } else {
    name = op.name;
  }
  if (ends_with_any(name, {"::TFRecord", "::TextLine", "::FixedLengthRecord", "::SSTable",
                           "::RecordIO", "::ArrayRecord"})) {
    return has_any(op.name, {"::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch",
                             "::ParallelMap"})
               ? "Advanced file read"
               : "Demanded file read";
  }
  return "Preprocessing";
}

bool is_input(const HostOp& op) {
  return op.is_stage || op.type == "Dataset" || op.type.starts_with("InfeedEnqueue") ||
         op.type == "MemcpyHToD";
}

}  // namespace

InputOps input_ops(const HostOps& host, const SessionSteps& steps) {
  InputOps result;
  double enqueue = 0, demanded = 0, advanced = 0, preprocessing = 0, unknown = 0;
  for (const HostOp& op : host.ops) {
    if (!is_input(op)) continue;
    InputOp input{op.name, category_of(op), op.occurrences, op.time_ps, op.self_ps};
    const double us = static_cast<double>(op.self_ps) / 1e6;
    result.self_ps += op.self_ps;
    if (input.category == "Enqueue") enqueue += us;
    if (input.category == "Demanded file read") demanded += us;
    if (input.category == "Advanced file read") advanced += us;
    if (input.category == "Preprocessing") preprocessing += us;
    if (input.category == "Unknown") unknown += us;
    result.ops.push_back(std::move(input));
  }
  std::stable_sort(result.ops.begin(), result.ops.end(),
                   [](const InputOp& a, const InputOp& b) { return a.self_ps > b.self_ps; });
  // What part of a step is the hand-over to the device.
  double share = 0;
  if (host.infeed_gap_ps > 0) {
    share = static_cast<double>(host.infeed_ps) / static_cast<double>(host.infeed_gap_ps);
  } else if (!steps.steps.empty()) {
    double copy = 0, total = 0;
    for (const SessionStep& step : steps.steps) {
      copy += static_cast<double>(step.slowest().work[static_cast<size_t>(Work::kHostToDevice)]);
      total += static_cast<double>(step.duration());
    }
    share = total == 0 ? 0 : copy / total;
  }
  share = std::min(1.0, share);
  const double others = demanded + advanced + preprocessing + unknown;
  const double rest = share != 0 ? enqueue * (1 - share) / share : others;
  const double scale = others == 0 ? 0 : rest / others;
  result.enqueue_us = enqueue;
  result.demanded_us = demanded * scale;
  result.advanced_us = advanced * scale;
  result.preprocessing_us = preprocessing * scale;
  result.unclassified_us = rest - result.demanded_us - result.advanced_us - result.preprocessing_us;
  return result;
}

}  // namespace sonde::capture
