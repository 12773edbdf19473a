// PyTorch: memory that is larger after every step.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/pytorch/memory_records.h"
#include "capture/findings/pytorch.h"

namespace sonde::capture::findings {
namespace {

using namespace pytorch;

constexpr size_t kStepsOfALeak = 4;
constexpr double kLeastMegabytes = 0.02;  // a step: what rounding and small objects stay below

}  // namespace

void memory_growth(const HostAnalysis& host, Rules& r) {
  const Capture& c = host.pytorch();
  // Steps that nobody marked, but that the loop shows, are steps.
  std::vector<Range> steps;
  if (c.steps_marked) {
    for (const CaptureStep& step : c.steps) steps.push_back(step.host);
  } else {
    for (const loop::Period& p : host.loop().periods) steps.push_back({p.begin, p.end});
  }
  if (c.memory.empty() || steps.size() < kStepsOfALeak) return;
  const Memory memory = memory_of(c);
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    std::vector<double> at_end;  // MB held since the capture began, after each step
    double held = 0;
    size_t at = 0;
    for (const Range& step : steps) {
      for (; at < memory.records.size() && memory.records[at].time_ps <= step.end; ++at) {
        if (memory.records[at].device == d)
          held += static_cast<double>(memory.records[at].bytes) / 1e6;
      }
      at_end.push_back(held);
    }
    // The first steps make what stays: gradients, the optimizer's state.
    std::vector<double> more;
    for (size_t i = 2; i < at_end.size(); ++i) more.push_back(at_end[i] - at_end[i - 1]);
    const double each = loop::median(more);
    const bool grows =
        each >= kLeastMegabytes &&
        std::all_of(more.begin(), more.end(), [&](double mb) { return mb > 0.3 * each; });
    Finding f = make("MEM-GROW", grows, Severity::kCritical);
    f.text = fmt::format("{:.2f} MB more of {} memory are held after every step",
                         std::max(0.0, each), memory.devices[d]);
    if (grows) {
      std::map<std::string, double> by_operator;
      for (const Lifetime& life : memory.lifetimes) {
        if (life.allocation == pytorch::kNone || life.release != pytorch::kNone) continue;
        const MemoryRecord& record = memory.records[life.allocation];
        if (record.device != d || record.time_ps < steps[1].begin) continue;
        by_operator[operator_name(c, record)] += static_cast<double>(record.bytes) / 1e6;
      }
      const auto most =
          std::max_element(by_operator.begin(), by_operator.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      f.text +=
          fmt::format(" ({:.1f} MB after {} steps) and never released: it grows until none is left",
                      at_end.back(), at_end.size());
      if (most != by_operator.end() && !most->first.empty())
        f.text += fmt::format("; most of it is allocated by {}", most->first);
    }
    f.text += ".";
    f.action =
        "Something keeps tensors with their graph, a list of losses or outputs most often: keep "
        "loss.item() or loss.detach() instead, and run validation under torch.no_grad().";
    f.diff = "-losses.append(loss)\n+losses.append(loss.item())";
    f.numbers = {{"mb_per_step", each}};
    f.evidence = {{"torch.memory", memory.devices[d]}};
    r.found.push_back(std::move(f));
  }
}

}  // namespace sonde::capture::findings
