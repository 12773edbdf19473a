// PyTorch: memory that is larger after every step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "capture/analysis/pytorch/memory_records.h"
#include "capture/findings/pytorch.h"

namespace sonde::capture::findings {
namespace {

using namespace pytorch;

constexpr size_t kStepsOfALeak = 4;
constexpr double kLeastMegabytes = 0.02;  // a step: what rounding and small objects stay below

// The functions of Python that were open when memory was taken that stayed, MB by function: the
// innermost that is not PyTorch's own.
std::map<std::string, double> allocating_functions(
    const HostAnalysis& host, const std::vector<std::pair<int64_t, double>>& taken) {
  std::map<std::string, double> out;
  const trace::Trace& trace = host.trace();
  const loop::Loop& loop = host.loop();
  if (loop.thread == trace::kNone || !loop.has_python) return out;
  const trace::Track& track = trace.tracks()[loop.thread];
  std::vector<bool> frames;  // by label
  for (const trace::Label& label : trace.labels())
    frames.push_back(loop::is_frame(trace.text(label.name)));
  std::vector<trace::SliceId> open;
  trace::SliceId s = track.first_slice;
  for (const auto& [time, mb] : taken) {
    for (; s < track.first_slice + track.slices && trace.begin(s).value <= time; ++s) {
      if (!frames[trace.label_id(s)]) continue;
      while (!open.empty() && trace.end(open.back()).value <= trace.begin(s).value) open.pop_back();
      open.push_back(s);
    }
    while (!open.empty() && trace.end(open.back()).value <= time) open.pop_back();
    for (auto at = open.rbegin(); at != open.rend(); ++at) {
      const loop::Frame frame = loop::frame_of(trace.name(*at));
      if (frame.builtin || frame.file.find("torch/") != std::string_view::npos) continue;
      const size_t slash = frame.file.rfind('/');
      out[fmt::format("{} ({}:{})", frame.function,
                      slash == std::string_view::npos ? frame.file : frame.file.substr(slash + 1),
                      frame.line)] += mb;
      break;
    }
  }
  return out;
}

// Where no steps are known: allocations of one operator and size that come all through the capture
// and are never given back.
void kept_again_and_again(const Capture& c, const Memory& memory, Rules& r) {
  if (memory.records.empty()) return;
  // By place among all records: a machine that pauses stretches times, not these.
  const auto all = static_cast<int64_t>(memory.records.size());
  std::map<std::pair<std::string, int64_t>, std::vector<int64_t>> kept;
  for (const Lifetime& life : memory.lifetimes) {
    if (life.allocation == pytorch::kNone || life.release != pytorch::kNone) continue;
    const MemoryRecord& record = memory.records[life.allocation];
    if (static_cast<double>(record.bytes) < 1e6 * kLeastMegabytes) continue;
    kept[{operator_name(c, record), record.bytes}].push_back(life.allocation);
  }
  const std::pair<const std::pair<std::string, int64_t>, std::vector<int64_t>>* most = nullptr;
  const auto weight = [](const auto& entry) {
    return static_cast<double>(entry.first.second) * static_cast<double>(entry.second.size());
  };
  for (auto& entry : kept) {
    std::vector<int64_t>& places = entry.second;
    std::sort(places.begin(), places.end());
    int64_t longest = 0;
    for (size_t i = 1; i < places.size(); ++i)
      longest = std::max(longest, places[i] - places[i - 1]);
    const bool throughout = places.size() >= kStepsOfALeak &&
                            10 * (places.back() - places.front()) > 6 * all && 2 * longest < all;
    if (throughout && (!most || weight(entry) > weight(*most))) most = &entry;
  }
  if (!most) return;
  Finding f = make("MEM-GROW", true, Severity::kCritical);
  f.text = fmt::format(
      "Memory grows: {} times in the capture {} takes {:.2f} MB that are never released, {:.1f} MB "
      "in all.",
      most->second.size(), most->first.first, static_cast<double>(most->first.second) / 1e6,
      weight(*most) / 1e6);
  f.action =
      "Something keeps tensors, a list of outputs or losses most often: keep loss.item() or "
      "detach() what is kept, and drop (del) what is no longer needed.";
  f.diff = "-outputs.append(out)\n+outputs.append(out.detach())   # or out.item()";
  f.numbers = {{"mb_each", static_cast<double>(most->first.second) / 1e6}};
  f.evidence = {{"torch.memory", ""}};
  r.found.push_back(std::move(f));
}

}  // namespace

// The allocator keeps pieces that no request fits into.
void memory_fragments(const Numbers& n, Rules& r) {
  if (n.c.memory.empty()) return;
  const Memory memory = memory_of(n.c);
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    if (!memory.devices[d].starts_with("GPU")) continue;
    const DeviceInfo* info = n.c.device_info(std::atoi(memory.devices[d].c_str() + 3));
    const MemoryRecord* peak = nullptr;
    for (const MemoryRecord& record : memory.records) {
      if (record.device == d && record.reserved && record.allocated &&
          (!peak || *record.reserved > *peak->reserved))
        peak = &record;
    }
    if (!peak || *peak->reserved <= 0) continue;
    const double unused = ratio(static_cast<double>(*peak->reserved - *peak->allocated),
                                static_cast<double>(*peak->reserved));
    const bool full =
        info && info->memory_bytes > 0 &&
        static_cast<double>(*peak->reserved) > 0.8 * static_cast<double>(info->memory_bytes);
    Finding f = make("MEM-FRAG", full && unused >= 0.3, Severity::kMajor);
    f.text = fmt::format(
        "{:.0f}% of the {:.1f} GB that the allocator holds of {} at its peak are unused pieces.",
        100 * unused, static_cast<double>(*peak->reserved) / (1 << 30), memory.devices[d]);
    f.action = "Let segments grow instead of adding new ones, and pad to few shapes.";
    f.diff = "+os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'";
    f.numbers = {{"unused_percent", 100 * unused}};
    f.evidence = {{"torch.memory", memory.devices[d]}};
    r.found.push_back(std::move(f));
  }
}

void memory_growth(const HostAnalysis& host, Rules& r) {
  const Capture& c = host.pytorch();
  // Steps that nobody marked, but that the loop shows, are steps.
  std::vector<Range> steps;
  if (c.steps_marked) {
    for (const CaptureStep& step : c.steps) steps.push_back(step.host);
  } else {
    for (const loop::Period& p : host.loop().periods) steps.push_back({p.begin, p.end});
  }
  if (c.memory.empty()) return;
  const Memory memory = memory_of(c);
  if (steps.size() < kStepsOfALeak) {
    kept_again_and_again(c, memory, r);
    return;
  }
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
      std::vector<std::pair<int64_t, double>> taken;
      for (const Lifetime& life : memory.lifetimes) {
        if (life.allocation == pytorch::kNone || life.release != pytorch::kNone) continue;
        const MemoryRecord& record = memory.records[life.allocation];
        if (record.device != d || record.time_ps < steps[1].begin) continue;
        const double mb = static_cast<double>(record.bytes) / 1e6;
        by_operator[operator_name(c, record)] += mb;
        taken.emplace_back(record.time_ps, mb);
      }
      const auto most =
          std::max_element(by_operator.begin(), by_operator.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      f.text +=
          fmt::format(" ({:.1f} MB after {} steps) and never released: it grows until none is left",
                      at_end.back(), at_end.size());
      if (most != by_operator.end() && !most->first.empty())
        f.text += fmt::format("; most of it is allocated by {}", most->first);
      std::sort(taken.begin(), taken.end());
      const auto by_function = allocating_functions(host, taken);
      const auto function =
          std::max_element(by_function.begin(), by_function.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (function != by_function.end()) f.text += fmt::format(" in {}", function->first);
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
