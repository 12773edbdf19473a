#include "capture/analysis/pytorch/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace sonde::capture::pytorch {

double rounded(double value, int digits) {
  return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
}

double rounded_for_display(double value) {
  const double size = std::abs(value);
  if (size >= 0.01 || size == 0) return rounded(value, 2);
  return rounded(value, static_cast<int>(std::abs(std::floor(std::log10(size)))));
}

std::vector<const HostAnalysis*> workers(const Session& session, const Options& options) {
  auto hosts = chosen_hosts(session, options);
  std::erase_if(hosts, [](const HostAnalysis* host) { return !host->is_pytorch(); });
  return hosts;
}

std::string missing_capture(const Session& session) {
  if (!workers(session, {}).empty()) return {};
  return "this is no capture of PyTorch's profiler";
}

Report without_capture(const Session& session) {
  Report report;
  report.missing.push_back(
      {"a PyTorch capture", missing_capture(session),
       "with torch.profiler.profile(on_trace_ready="
       "torch.profiler.tensorboard_trace_handler('logs')) as p: ... p.step()"});
  return report;
}

bool holds(const Session& session, Kind kind) {
  for (const HostAnalysis* host : workers(session, {})) {
    const Words words(host->trace());
    for (const LabelWord& word : words.labels) {
      if (word.kind == kind) return true;
    }
  }
  return false;
}

}  // namespace sonde::capture::pytorch
