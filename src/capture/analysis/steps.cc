#include "capture/analysis/steps.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

// A slice that takes part in its step's breakdown.
struct Span {
  trace::SliceId slice;
  Work work;
};

struct Marker {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
};

struct Pending {
  bool host_marked = false, device_marked = false, has_device_events = false;
  Marker host, device;
  std::string name;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool starts_ignoring_case(std::string_view text, std::string_view start) {
  if (text.size() < start.size()) return false;
  for (size_t i = 0; i < start.size(); ++i) {
    if (lower(text[i]) != lower(start[i])) return false;
  }
  return true;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_explicit_marker(std::string_view name) {
  return (name.starts_with("train") || name.starts_with("test") ||
          name.starts_with("TraceContext")) &&
         !contains(name, "/");
}

bool is_low_precision(std::string_view name, std::string_view shape) {
  if (!shape.empty()) return contains(shape, "half") || contains(shape, "bfloat16");
  for (const std::string_view word : {"half", "fp16", "bf16", "_f8", "e4m3", "e5m2", "h16816"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

bool is_collective(std::string_view name) {
  if (starts_ignoring_case(name, "nccl") || starts_ignoring_case(name, "rccl")) return true;
  if (!contains(name, "nccl") && !contains(name, "msccl") && !contains(name, "nvls")) return false;
  for (const std::string_view word :
       {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv", "Broadcast"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

bool is_compile(std::string_view name) {
  for (const std::string_view word : {"XlaCompile", "CompileToLocalExecutable", "backend_compile",
                                      "PjRtCpuClient::Compile", "BuildExecutable"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

// What a label's name alone says; computed once a label.
struct LabelWork {
  Work host = Work::kHostCompute, host_with_device = Work::kHostCompute, device = Work::kCompute32;
  Work device_with_shape = Work::kCompute32;
  bool counted = true, marker = false, is_launch_name = false;
};

LabelWork work_of(std::string_view name, const OpName& op) {
  LabelWork work;
  work.marker = is_explicit_marker(name);
  for (const std::string_view start :
       {"EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun"}) {
    if (name.starts_with(start)) work.counted = false;
  }
  if (contains(name, ":InfeedEnqueue") || op.category == OpCategory::kCopyHostToDevice) {
    work.host = Work::kHostToDevice;
  } else if (op.category == OpCategory::kCopyHostToHost) {
    work.host = Work::kHostToHost;
  } else if (starts_ignoring_case(name, "IteratorGetNext")) {
    work.host = Work::kWaitInput;
  } else if (is_compile(name)) {
    work.host = Work::kHostCompile;
  }
  work.host_with_device = work.host;
  if ((work.host == Work::kHostCompute || work.host == Work::kWaitInput) &&
      starts_ignoring_case(name, "ExecutorState::Process")) {
    work.host_with_device = Work::kLaunch;
  }
  switch (op.category) {
    case OpCategory::kCopyHostToDevice:
      work.device = Work::kHostToDevice;
      break;
    case OpCategory::kCopyDeviceToHost:
      work.device = Work::kDeviceToHost;
      break;
    case OpCategory::kCopyDeviceToDevice:
      work.device = Work::kDeviceToDevice;
      break;
    case OpCategory::kCopyHostToHost:
      work.device = Work::kHostToHost;
      break;
    default:
      work.device = is_collective(name)          ? Work::kCollective
                    : is_low_precision(name, {}) ? Work::kCompute16
                                                 : Work::kCompute32;
  }
  return work;
}

class Breakdown {
 public:
  Breakdown(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping)
      : trace_(trace), words_(words), grouping_(grouping), pending_(grouping.groups.size()) {
    labels_.reserve(words.labels.size());
    for (size_t i = 0; i < words.labels.size(); ++i)
      labels_.push_back(work_of(trace.text(trace.labels()[i].name), words.labels[i].op));
    copies_.resize(pending_.size());
  }

  Steps run() {
    if (!words_.tpu_planes.empty()) return tpu_steps();
    // Room for the most there can be: what is not used is never touched, growing would copy.
    spans_.reserve(static_cast<size_t>(
        std::count_if(grouping_.of.begin(), grouping_.of.end(), [](int32_t g) { return g >= 0; })));
    has_device_ = !words_.gpu_planes.empty() && collect_devices();
    collect_host();
    return finish();
  }

 private:
  struct Copies {
    std::array<uint32_t, 3> count{};
    std::array<int64_t, 3> ps{};
    std::array<uint64_t, 3> bytes{};
  };

  // --- TPU: the ops of the core that took longest, by their category ---

  static Work work_of_category(std::string_view category, std::string_view expression) {
    const auto starts = [&](std::string_view text) { return category.starts_with(text); };
    if (starts("infeed")) return Work::kHostToDevice;
    if (starts("outfeed") || starts("host outfeed")) return Work::kDeviceToHost;
    if (starts("host send") || starts("host recv")) return Work::kHostToHost;
    if (starts("send") || starts("recv")) return Work::kDeviceToDevice;
    for (const std::string_view kind :
         {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective"}) {
      if (starts(kind)) return Work::kCollective;
    }
    return contains(expression, "bf16[") || contains(expression, "f8e") ? Work::kCompute16
                                                                        : Work::kCompute32;
  }

  Steps tpu_steps() {
    std::vector<const Grouping::DeviceStep*> longest(grouping_.groups.size(), nullptr);
    for (const Grouping::DeviceStep& step : grouping_.device_steps) {
      const Grouping::DeviceStep*& best = longest[static_cast<size_t>(step.group)];
      if (!best || step.end - step.begin > best->end - best->begin) best = &step;
    }
    std::vector<std::optional<Work>> kinds(words_.labels.size());
    std::vector<std::array<int64_t, kWorkCount>> sums(grouping_.groups.size());
    for (const TrackId plane : words_.tpu_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        if (trace_.track_name(t) != "XLA Ops") continue;
        add_core(trace_.tracks()[t], plane, longest, kinds, sums);
      }
    }
    Steps result;
    for (size_t g = 0; g < longest.size(); ++g) {
      if (!longest[g]) continue;
      Step step;
      step.group = static_cast<int32_t>(g);
      step.name = grouping_.groups[g].name;
      step.begin = longest[g]->begin;
      step.end = longest[g]->end;
      step.work = sums[g];
      int64_t known = 0;
      for (const int64_t ps : step.work) known += ps;
      step.work[0] += std::max<int64_t>(0, step.duration() - known);
      step.segments = step.work;
      if (known == 0 || step.duration() <= 0) {
        ++result.dropped_without_work;
        continue;
      }
      result.steps.push_back(std::move(step));
    }
    return result;
  }

  // Self times of one core's ops, for the steps in which this core took longest.
  void add_core(const trace::Track& track, TrackId plane,
                const std::vector<const Grouping::DeviceStep*>& longest,
                std::vector<std::optional<Work>>& kinds,
                std::vector<std::array<int64_t, kWorkCount>>& sums) const {
    struct Open {
      SliceId slice;
      int64_t children;
    };
    std::vector<Open> open;
    const auto close = [&] {
      const Open top = open.back();
      open.pop_back();
      const int64_t duration = trace_.duration(top.slice).value;
      if (!open.empty()) open.back().children += duration;
      const int32_t group = grouping_.of[top.slice];
      if (group < 0 || !longest[static_cast<size_t>(group)] ||
          longest[static_cast<size_t>(group)]->plane != plane)
        return;
      std::optional<Work>& kind = kinds[trace_.label_id(top.slice)];
      if (!kind) {
        const trace::Label& label = trace_.label(top.slice);
        kind = work_of_category(trace_.text_of(trace_.find(label.args, words_.key.hlo_category)),
                                trace_.text(label.name));
      }
      sums[static_cast<size_t>(group)][static_cast<size_t>(*kind)] +=
          std::max<int64_t>(0, duration - top.children);
    };
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      while (!open.empty() && trace_.end(open.back().slice) < trace_.end(s)) close();
      open.push_back({s, 0});
    }
    while (!open.empty()) close();
  }

  bool collect_devices() {
    bool any = false;
    for (const TrackId plane : words_.gpu_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        if (words_.derived[t]) continue;
        const trace::Track& track = trace_.tracks()[t];
        any |= track.slices != 0;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s)
          add_device(s);
      }
    }
    for (const Grouping::DeviceStep& step : grouping_.device_steps) {
      Pending& pending = pending_[static_cast<size_t>(step.group)];
      if (!pending.device_marked || step.end - step.begin > pending.device.length())
        pending.device = {step.begin, step.end};
      pending.device_marked = true;
    }
    return any;
  }

  void add_device(SliceId s) {
    const int32_t group = grouping_.of[s];
    if (group < 0 || !trace_.find(trace_.args(s), words_.key.correlation_id)) return;
    const LabelWork& label = labels_[trace_.label_id(s)];
    Work work = label.device;
    if (work == Work::kCompute32 || work == Work::kCompute16) {
      const std::string_view shape = trace_.text_of(trace_.find(trace_.args(s), words_.key.shape));
      if (!shape.empty()) work = is_low_precision({}, shape) ? Work::kCompute16 : Work::kCompute32;
    }
    pending_[static_cast<size_t>(group)].has_device_events = true;
    spans_.push_back({s, work});
    const int slot = work == Work::kHostToDevice     ? 0
                     : work == Work::kDeviceToHost   ? 1
                     : work == Work::kDeviceToDevice ? 2
                                                     : -1;
    if (slot < 0) return;
    Copies& copies = copies_[static_cast<size_t>(group)];
    ++copies.count[static_cast<size_t>(slot)];
    copies.ps[static_cast<size_t>(slot)] += trace_.duration(s).value;
    copies.bytes[static_cast<size_t>(slot)] +=
        copy_bytes(trace_.text_of(trace_.find(s, words_.key.memcpy_details)));
  }

  void collect_host() {
    for (const TrackId plane : words_.host_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        const trace::Track& track = trace_.tracks()[t];
        // A slice inside an earlier one of the same kind and step adds nothing to the sweep.
        std::array<int64_t, kWorkCount> covered;
        covered.fill(INT64_MIN);
        int32_t covered_group = -1;
        int64_t stage_end = INT64_MIN;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const int32_t group = grouping_.of[s];
          if (group < 0) continue;
          Pending& pending = pending_[static_cast<size_t>(group)];
          if (has_device_ && !pending.has_device_events) continue;
          if (group != covered_group) {
            covered.fill(INT64_MIN);
            covered_group = group;
          }
          add_host(s, pending, group, covered, stage_end);
        }
      }
    }
  }

  void add_host(SliceId s, Pending& pending, int32_t group,
                std::array<int64_t, kWorkCount>& covered, int64_t& stage_end) {
    const LabelWork& label = labels_[trace_.label_id(s)];
    const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
    const Group& info = grouping_.groups[static_cast<size_t>(group)];
    const bool is_root = info.is_named && info.root == s;
    if (label.marker || is_root || (grouping_.recorded && has_step_name(s))) {
      if (!pending.host_marked || end - begin > pending.host.length()) pending.host = {begin, end};
      pending.host_marked = true;
      if (is_root || has_step_name(s)) {
        if (pending.name.empty()) pending.name = info.name;
      }
      return;
    }
    if (!label.counted) return;
    Work work = has_device_ ? label.host_with_device : label.host;
    const bool named_copy = work == Work::kHostToDevice || work == Work::kHostToHost;
    if (has_device_ && (work == Work::kHostCompute || work == Work::kWaitInput || named_copy) &&
        trace_.find(trace_.args(s), words_.key.correlation_id)) {
      work = Work::kLaunch;
    }
    if (work == Work::kHostCompute && words_.key.stage_name != trace::kNone &&
        trace_.find(trace_.args(s), words_.key.stage_name)) {
      if (begin >= stage_end) work = Work::kWaitInput;
      stage_end = std::max(stage_end, end);
    }
    if (end <= begin) return;  // an instant owns no time
    int64_t& last = covered[static_cast<size_t>(work)];
    if (end <= last) return;
    last = end;
    spans_.push_back({s, work});
  }

  bool has_step_name(SliceId s) const {
    return words_.key.step_name != trace::kNone &&
           trace_.find(trace_.args(s), words_.key.step_name).has_value();
  }

  // Spans by group, as positions in spans_: those of group g are order[first[g]] …
  // order[first[g+1]].
  struct Order {
    std::vector<uint32_t> first, order;
  };
  Order spans_by_group() const {
    Order by;
    by.first.assign(pending_.size() + 1, 0);
    const auto group_of = [&](const Span& span) {
      return static_cast<size_t>(grouping_.of[span.slice]);
    };
    for (const Span& span : spans_) ++by.first[group_of(span) + 1];
    for (size_t g = 1; g < by.first.size(); ++g) by.first[g] += by.first[g - 1];
    by.order.resize(spans_.size());
    std::vector<uint32_t> next(by.first.begin(), by.first.end() - 1);
    for (uint32_t i = 0; i < spans_.size(); ++i) by.order[next[group_of(spans_[i])]++] = i;
    return by;
  }

  Steps finish() {
    Steps result;
    const Order by = spans_by_group();
    for (size_t g = 0; g < pending_.size(); ++g) {
      const Pending& pending = pending_[g];
      if (!pending.host_marked && !pending.device_marked) continue;
      if (has_device_ && !pending.device_marked) continue;
      if (by.first[g] == by.first[g + 1]) continue;
      Step step;
      step.group = static_cast<int32_t>(g);
      step.name = pending.name.empty() ? grouping_.groups[g].name : pending.name;
      const bool use_host =
          pending.host_marked &&
          (!pending.device_marked || pending.device.length() == 0 ||
           (pending.host.begin <= pending.device.begin && pending.device.end <= pending.host.end));
      const Marker& marker = use_host ? pending.host : pending.device;
      step.begin = marker.begin;
      step.end = marker.end;
      step.copies = copies_[g].count;
      step.copy_ps = copies_[g].ps;
      step.copy_bytes = copies_[g].bytes;
      for (auto& list : of_kind_) list.clear();
      for (uint32_t i = by.first[g]; i < by.first[g + 1]; ++i) {
        const Span& span = spans_[by.order[i]];
        of_kind_[static_cast<size_t>(span.work)].emplace_back(trace_.begin(span.slice).value,
                                                              trace_.end(span.slice).value);
      }
      if (!sweep(step) || step.duration() <= 0) {
        ++result.dropped_without_work;
        continue;
      }
      result.steps.push_back(std::move(step));
    }
    return result;
  }

  // Kinds from the highest priority down: each owns what its spans cover and no higher one did.
  bool sweep(Step& step) {
    std::vector<std::pair<int64_t, int64_t>> taken, merged, next;
    std::array<bool, kWorkCount> present{};
    for (size_t w = kWorkCount; w-- > 0;) {
      auto& spans = of_kind_[w];
      if (spans.empty()) continue;
      // Spans come track by track, in order of time within each.
      if (!std::is_sorted(spans.begin(), spans.end())) std::sort(spans.begin(), spans.end());
      merged.clear();
      for (const auto& [begin, end] : spans) {
        if (!merged.empty() && begin <= merged.back().second) {
          merged.back().second = std::max(merged.back().second, end);
        } else {
          merged.emplace_back(begin, end);
        }
      }
      size_t t = 0;
      for (const auto& [begin, end] : merged) {
        int64_t at = begin;
        while (t < taken.size() && taken[t].second <= at) ++t;
        for (size_t k = t; at < end; ++k) {
          const int64_t stop = k < taken.size() ? std::min(end, taken[k].first) : end;
          if (stop > at) {
            present[w] = true;
            step.segments[w] += stop - at;
            step.work[w] +=
                std::max<int64_t>(0, std::min(stop, step.end) - std::max(at, step.begin));
          }
          if (k >= taken.size()) break;
          at = std::max(at, taken[k].second);
        }
      }
      next.clear();
      std::merge(taken.begin(), taken.end(), merged.begin(), merged.end(),
                 std::back_inserter(next));
      taken.clear();
      for (const auto& span : next) {
        if (!taken.empty() && span.first <= taken.back().second) {
          taken.back().second = std::max(taken.back().second, span.second);
        } else {
          taken.push_back(span);
        }
      }
    }
    int64_t known = 0;
    for (const int64_t ps : step.work) known += ps;
    step.work[0] += std::max<int64_t>(0, step.duration() - known);
    if (has_device_)
      return present[static_cast<size_t>(Work::kCompute16)] ||
             present[static_cast<size_t>(Work::kCompute32)];
    return present[static_cast<size_t>(Work::kHostCompute)];
  }

  const trace::Trace& trace_;
  const Vocabulary& words_;
  const Grouping& grouping_;
  std::vector<LabelWork> labels_;
  std::vector<Pending> pending_;
  std::vector<Copies> copies_;
  std::vector<Span> spans_;
  std::array<std::vector<std::pair<int64_t, int64_t>>, kWorkCount> of_kind_;  // of the step at hand
  bool has_device_ = false;
};

}  // namespace

std::string_view part_name(Part part) {
  static constexpr std::string_view kNames[] = {
      "Device compute", "Device to device", "Device collective communication",
      "Host compute",   "Kernel launch",    "Input",
      "Output",         "Compilation",      "All others"};
  return kNames[static_cast<size_t>(part)];
}

int64_t Step::part(Part part) const {
  const auto of = [&](Work w) { return work[static_cast<size_t>(w)]; };
  switch (part) {
    case Part::kDeviceCompute:
      return of(Work::kCompute16) + of(Work::kCompute32);
    case Part::kDeviceToDevice:
      return of(Work::kDeviceToDevice);
    case Part::kCollectives:
      return of(Work::kCollective);
    case Part::kHostCompute:
      return of(Work::kHostCompute) + of(Work::kHostToHost);
    case Part::kLaunch:
      return of(Work::kLaunch);
    case Part::kInput:
      return of(Work::kWaitInput) + of(Work::kHostToDevice);
    case Part::kOutput:
      return of(Work::kDeviceToHost);
    case Part::kCompile:
      return of(Work::kHostCompile);
    case Part::kOther:
      return of(Work::kUnknown);
  }
  return 0;
}

Steps break_down_steps(const trace::Trace& trace, const Vocabulary& words,
                       const Grouping& grouping) {
  return Breakdown(trace, words, grouping).run();
}

uint64_t copy_bytes(std::string_view details) {
  for (const std::string_view key : {"size:", "num_bytes:"}) {
    size_t at = 0;
    while ((at = details.find(key, at)) != std::string_view::npos) {
      const size_t value = at + key.size();
      if (at == 0 || details[at - 1] == ' ' || details[at - 1] == '\n') {
        uint64_t bytes = 0;
        std::from_chars(details.data() + value, details.data() + details.size(), bytes);
        return bytes;
      }
      at = value;
    }
  }
  return 0;
}

}  // namespace sonde::capture
