#include "capture/export/steps.h"

#include <algorithm>
#include <charconv>

#include "capture/analysis/analysis.h"

namespace sonde::exports {
namespace {

int64_t trailing_number(std::string_view name, int64_t otherwise) {
  size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  int64_t number = otherwise;
  std::from_chars(name.data() + at, name.data() + name.size(), number);
  return number;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view p) { return text.find(p) != std::string_view::npos; });
}

bool is_step_mark(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("ProfilerStep*");
}

Kind device_kind(std::string_view name, std::string_view category) {
  if (category == "gpu_user_annotation") return Kind::kMark;
  if (category == "gpu_memcpy" || has_any(name, {"Memcpy", "memcpy", "MEMCPY"})) return Kind::kCopy;
  if (category == "gpu_memset" || has_any(name, {"Memset", "memset", "MEMSET"}))
    return Kind::kMemset;
  if (has_any(name, {"nccl", "rccl", "AllReduce", "all-reduce", "AllGather", "all-gather",
                     "ReduceScatter", "reduce-scatter", "all-to-all"}))
    return Kind::kCommunication;
  return Kind::kKernel;
}

Kind host_kind(std::string_view name, std::string_view category) {
  if (is_step_mark(name) || category == "user_annotation" || category == "Run" ||
      category == "overhead")
    return Kind::kMark;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime" ||
      name.starts_with("cuda") || name.starts_with("hip"))
    return Kind::kRuntime;
  if (has_any(name, {"DataLoader", "IteratorGetNext"}) || name.starts_with("Iterator::"))
    return Kind::kDataLoader;
  if (has_any(name, {"gloo:", "c10d::"})) return Kind::kCommunication;
  return Kind::kCpu;
}

}  // namespace

std::vector<StepSpan> steps_of(const Run& run) {
  std::vector<StepSpan> steps;
  if (run.stats) {
    steps.push_back({run.name, run.step.value_or(0), run.trace->first_begin().value,
                     run.trace->last_end().value});
    return steps;
  }
  for (const trace::Track& track : run.trace->tracks()) {
    if (track.kind != trace::TrackKind::kThread) continue;
    for (uint32_t i = 0; i < track.slices; ++i) {
      const trace::SliceId s = track.first_slice + i;
      if (!is_step_mark(run.trace->name(s)) || run.category(s) == "gpu_user_annotation") continue;
      steps.push_back({std::string(run.trace->name(s)), trailing_number(run.trace->name(s), 0),
                       run.trace->begin(s).value, run.trace->end(s).value});
    }
  }
  if (steps.empty()) {
    trace::Session session;
    session.hosts.push_back({run.name, run.source, run.bytes, run.trace});
    const capture::Session analysed(std::move(session));
    for (const capture::Step& step : analysed.analysis().hosts[0]->steps().steps) {
      steps.push_back({step.name, trailing_number(step.name, static_cast<int64_t>(steps.size())),
                       step.begin, step.end});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepSpan& a, const StepSpan& b) { return a.begin < b.begin; });
  // PyTorch marks a step on each thread that takes part; the longest stands for it.
  for (size_t i = 1; i < steps.size();) {
    if (steps[i].number == steps[i - 1].number && steps[i].begin < steps[i - 1].end) {
      steps[i - 1].end = std::max(steps[i - 1].end, steps[i].end);
      steps.erase(steps.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return steps;
}

Kinds::Kinds(const trace::Trace& trace) : trace_(trace) {
  for (const trace::Track& track : trace.tracks()) {
    bool device = track.kind == trace::TrackKind::kStream;
    const std::string_view name = trace.text(track.name);
    device |= name.starts_with("stream ") || name.starts_with("Stream #");
    device_.push_back(device);
  }
  for (const trace::Label& label : trace.labels()) {
    const std::string_view name = trace.text(label.name);
    const std::string_view category =
        label.category == trace::kNone ? std::string_view() : trace.text(label.category);
    const bool kernel = category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
                        category == "gpu_memset" || category == "gpu_user_annotation";
    on_device_.push_back(device_kind(name, category));
    on_host_.push_back(kernel ? on_device_.back() : host_kind(name, category));
  }
}

Kind Kinds::of(trace::TrackId track, trace::SliceId slice) const {
  const trace::LabelId label = trace_.label_id(slice);
  return device_[track] ? on_device_[label] : on_host_[label];
}

}  // namespace sonde::exports
