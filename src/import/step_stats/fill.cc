#include "import/step_stats/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <tuple>

#include "base/strings.h"

namespace sonde::imports {
namespace {

using trace::Builder;
using trace::Diagnostic;
using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

// Gaps larger than this many times the runs themselves are closed.
constexpr int64_t kSparse = 20;
// Ids of lines that repeat what others hold; the tools pass over them (profile/vocabulary.cc).
constexpr int64_t kRepeatingLine = 0xdeadbeef;

struct Extent {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  bool empty() const { return begin > end; }
  int64_t length() const { return empty() ? 0 : end - begin; }
};

Extent extent_of(const StepStats& stats) {
  Extent extent;
  for (const DeviceStats& device : stats.devices) {
    for (const NodeStats& node : device.nodes) {
      const int64_t begin = node.begin_in_ns();
      extent.begin = std::min(extent.begin, begin);
      extent.end = std::max(extent.end, begin > INT64_MAX - node.duration_in_ns()
                                            ? begin
                                            : begin + node.duration_in_ns());
    }
  }
  return extent;
}

std::string clean(std::string_view text) {
  return is_utf8(text) ? std::string(text) : to_utf8(text);
}

// "/device:GPU:0" of a tracer's device: "/gpu:0/stream:14", "/device:GPU:0/memcpy" …
std::string gpu_of(std::string_view device) {
  const size_t end = std::min(device.find("/stream:"), device.find("/memcpy"));
  std::string_view head = device.substr(0, end);
  const size_t colon = head.rfind(':');
  const std::string_view number = colon == std::string_view::npos ? "0" : head.substr(colon + 1);
  return fmt::format("/device:GPU:{}", number);
}

std::string usual_label(const NodeLabel& label) {
  std::string text = fmt::format("{} = {}(", label.name, label.op);
  for (size_t i = 0; i < label.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    text += label.inputs[i];
  }
  return text + ")";
}

struct Tensor {
  SliceId producer;
  TrackId track;
  int64_t begin, last;  // ps
  int64_t bytes;
  std::string_view allocator;
};

class Filler {
 public:
  Filler(const StepStatsOptions& options, Builder& builder)
      : options_(options), builder_(builder) {}

  void run(std::span<const StepStatsRun> runs) {
    place(runs);
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!extents_[i].empty()) add_run(runs[i], i);
    }
    for (const auto& [allocator, counter] : counters_) add_memory(counter);
    report(runs);
  }

 private:
  // Decides where each run lies: as recorded, or moved together.
  void place(std::span<const StepStatsRun> runs) {
    int64_t first = INT64_MAX, last = INT64_MIN, busy = 0;
    bool overlap = false;
    for (const StepStatsRun& run : runs) {
      const Extent extent = extents_.emplace_back(extent_of(run.stats));
      if (extent.empty()) continue;
      overlap |= last != INT64_MIN && extent.begin < last;
      first = std::min(first, extent.begin);
      last = std::max(last, extent.end);
      busy =
          std::min<int64_t>(busy + std::max<int64_t>(0, extent.length() / 2) * 2, INT64_MAX / 64);
    }
    shift_ns_.assign(runs.size(), first == INT64_MAX ? 0 : first);
    if (first == INT64_MAX) return;
    const auto span = static_cast<double>(last) - static_cast<double>(first);
    const bool wide = span > static_cast<double>(trace::kTimeLimit / 1000);
    moved_ =
        runs.size() > 1 &&
        ((!overlap && span > static_cast<double>(kSparse) * static_cast<double>(busy)) || wide);
    constexpr int64_t k2001 = 978'307'200'000'000'000, k2100 = 4'102'444'800'000'000'000;
    if (first > k2001 && first < k2100) builder_.set_start_ns(first);
    if (!moved_) return;
    int64_t at = 0;
    const int64_t gap = std::max<int64_t>(1000, busy / 50);
    for (size_t i = 0; i < runs.size(); ++i) {
      if (extents_[i].empty()) continue;
      shift_ns_[i] = extents_[i].begin - at;
      at += extents_[i].length() + gap;
    }
  }

  int64_t to_ps(int64_t ns, size_t run) const {
    const auto relative =
        static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(shift_ns_[run]));
    const int64_t most = trace::kTimeLimit / 1000;
    return std::clamp(relative, -most, most) * 1000;
  }

  void add_run(const StepStatsRun& run, size_t index) {
    group_ = static_cast<int64_t>(index);
    tensors_.clear();
    order_.clear();
    op_numbers_.clear();
    has_streams_ = std::any_of(
        run.stats.devices.begin(), run.stats.devices.end(), [](const DeviceStats& device) {
          const size_t at = device.device.find("/stream:");
          return at != std::string_view::npos && device.device.substr(at) != "/stream:all";
        });
    for (const DeviceStats& device : run.stats.devices) {
      if (!is_gpu_trace(device.device)) continue;
      for (const NodeStats& kernel : device.nodes)
        op_numbers_.try_emplace(parse_label(kernel, true).name, op_numbers_.size());
    }
    std::vector<Placed> placed;
    for (const DeviceStats& device : run.stats.devices) add_device(device, index, placed);
    connect(placed);
    if (options_.steps) mark_step(run, index);
    if (options_.memory) collect_memory();
  }

  struct Placed {
    const NodeStats* node;
    SliceId slice;
    TrackId track;
    int64_t begin, end;
    std::vector<std::string_view> inputs;
  };

  // --- tracks ---

  TrackId device_track(std::string_view device) {
    const bool is_gpu = is_gpu_trace(device);
    const bool as_tensorflow = options_.lanes == Lanes::kTensorFlow;
    const std::string key = is_gpu && !as_tensorflow ? gpu_of(device) : std::string(device);
    const auto [found, added] = processes_.try_emplace(key, kNone);
    if (!added) return found->second;
    if (as_tensorflow) return found->second = tensorflow_process(device);
    const auto id = static_cast<int64_t>(processes_.size());
    // Ops of a /job device run on the host, whichever device they belong to.
    found->second = builder_.process(is_gpu ? key : "/host:CPU", id);
    trace::Track& track = builder_.edit(found->second);
    track.order = id;
    if (!is_gpu) {
      const TrackId process = found->second;
      const trace::StringId shown = builder_.string(clean(device));
      builder_.edit(process).display_name = shown;
    }
    return found->second;
  }

  // TensorFlow's names and order: the allocators, then two processes a device.
  TrackId tensorflow_process(std::string_view device) {
    const auto add = [&](std::string name) {
      const TrackId track = builder_.process(name, next_process_);
      builder_.edit(track).order = next_process_++;
      return track;
    };
    if (memory_ == kNone) memory_ = add("Allocators");
    const TrackId compute = add(clean(device) + " Compute");
    add(clean(device) + " Tensors");
    return compute;
  }

  TrackId lane_track(TrackId process, const DeviceStats& device, uint32_t lane, bool packed) {
    const auto [found, added] =
        lanes_.try_emplace(std::tuple(process, std::string(device.device), lane), kNone);
    if (!added) return found->second;
    std::string name;
    int64_t id = lane;
    if (is_gpu_trace(device.device)) {
      name = device.device.substr(
          std::min(device.device.find("/stream:"), device.device.find("/memcpy")) + 1);
      name = clean(name);
      const bool repeats = has_streams_ && (name == "stream:all" || name == "memcpy");
      if (repeats) id = kRepeatingLine + (name == "memcpy" ? 1 : 0);
      if (lane > 0) name += fmt::format(" ({})", lane);
    } else {
      for (const auto& [number, text] : device.threads) {
        if (!packed && number == lane) name = clean(text);
      }
      if (name.empty()) name = fmt::format("{} {}", packed ? "lane" : "thread", lane);
    }
    const bool is_stream = is_gpu_trace(device.device);
    found->second =
        builder_.track(is_stream ? TrackKind::kStream : TrackKind::kThread, process, name, id);
    builder_.edit(found->second).order = lane;
    return found->second;
  }

  // Whether two nodes of one recorded thread overlap without nesting: then it is no thread.
  static bool overlaps(const DeviceStats& device) {
    std::vector<std::tuple<uint32_t, int64_t, int64_t>> spans;  // thread, begin, -end
    for (const NodeStats& node : device.nodes) {
      const int64_t begin = node.begin_in_ns(), length = node.duration_in_ns();
      const int64_t end = begin > INT64_MAX - length ? begin : begin + length;
      spans.emplace_back(node.thread, begin, -end);
    }
    std::sort(spans.begin(), spans.end());
    std::vector<int64_t> open;
    for (size_t i = 0; i < spans.size(); ++i) {
      const auto& [thread, begin, negative_end] = spans[i];
      if (i > 0 && std::get<0>(spans[i - 1]) != thread) open.clear();
      while (!open.empty() && open.back() <= begin) open.pop_back();
      if (!open.empty() && -negative_end > open.back()) return true;
      open.push_back(-negative_end);
    }
    return false;
  }

  static std::vector<uint32_t> dense_lanes(const DeviceStats& device) {
    std::vector<uint32_t> order(device.nodes.size()), lanes(device.nodes.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return device.nodes[a].begin_in_ns() < device.nodes[b].begin_in_ns();
    });
    std::map<int64_t, std::vector<uint32_t>> free;  // lanes by their end
    uint32_t used = 0;
    for (const uint32_t i : order) {
      const int64_t begin = device.nodes[i].begin_in_ns();
      const int64_t length = device.nodes[i].duration_in_ns();
      uint32_t lane = used;
      if (!free.empty() && free.begin()->first <= begin) {
        lane = free.begin()->second.back();
        free.begin()->second.pop_back();
        if (free.begin()->second.empty()) free.erase(free.begin());
      } else {
        ++used;
      }
      lanes[i] = lane;
      free[begin > INT64_MAX - length ? begin : begin + length].push_back(lane);
    }
    return lanes;
  }

  // --- slices ---

  void add_device(const DeviceStats& device, size_t run, std::vector<Placed>& placed) {
    const TrackId process = device_track(device.device);
    const bool gpu = is_gpu_trace(device.device);
    std::vector<uint32_t> lanes;
    if (options_.lanes == Lanes::kPacked) {
      lanes = dense_lanes(device);
    } else if (options_.lanes == Lanes::kTensorFlow || overlaps(device)) {
      lanes = packed_lanes(device);
    }
    for (size_t i = 0; i < device.nodes.size(); ++i) {
      const NodeStats& node = device.nodes[i];
      const NodeLabel label = parse_label(node, gpu);
      const uint32_t lane = lanes.empty() ? (gpu ? 0 : node.thread) : lanes[i];
      const TrackId track = lane_track(process, device, lane, !lanes.empty());
      const int64_t begin = to_ps(node.begin_in_ns(), run);
      const int64_t length = std::min(node.duration_in_ns(), trace::kTimeLimit / 1000) * 1000;
      const SliceId slice = builder_.slice(track, {begin}, {length}, slice_label(node, label, gpu));
      add_args(node, label, gpu, device.device);
      if (gpu) continue;
      placed.push_back({&node, slice, track, begin, begin + length, label.inputs});
    }
  }

  // An op is "name:Type" as in every other TensorFlow capture and shown by its type; a kernel is
  // the tracer's text for it.
  LabelId slice_label(const NodeStats& node, const NodeLabel& label, bool gpu) {
    std::string name, shown;
    if (gpu) {
      name = clean(trimmed(node.label.substr(0, node.label.find("@@"))));
      if (name.empty()) name = clean(node.name);
    } else if (label.op == "unknown" || label.op == node.name || label.op.empty()) {
      name = clean(node.name);
    } else {
      name = fmt::format("{}:{}", clean(node.name), clean(label.op));
      shown = clean(label.op);
    }
    if (name.empty()) name = "[no name]";
    if (shown.empty()) return builder_.label(name, gpu ? "kernel" : "Op");
    const auto [found, added] = labels_.try_emplace(name, kNone);
    if (added)
      found->second = builder_.own_label(builder_.string(name), builder_.string(shown), {},
                                         builder_.string("Op"));
    return found->second;
  }

  void add_args(const NodeStats& node, const NodeLabel& label, bool gpu, std::string_view device) {
    builder_.arg("name", clean(label.name));
    builder_.arg("op", clean(label.op));
    for (size_t i = 0; i < label.inputs.size() && i < 1000; ++i)
      builder_.arg(fmt::format("input{}", i), clean(label.inputs[i]));
    if (!node.label.empty() && node.label != usual_label(label))
      builder_.arg("label", clean(node.label));
    if (gpu) {
      builder_.arg("device", clean(device));
      if (!label.name.empty() && label.name != node.name) builder_.arg("tf_op", clean(label.name));
      const bool copy = node.name.find("MEMCPY") != std::string_view::npos ||
                        node.label.find("MEMCPY") != std::string_view::npos;
      if (copy) builder_.arg("memcpy_details", clean(node.label));
    }
    // Launch and kernels of one op are told together by the op's name in the tracer's label.
    if (const auto found = op_numbers_.find(label.name); found != op_numbers_.end())
      builder_.arg("correlation_id", static_cast<int64_t>(found->second));
    if (node.op_end_us != 0 || node.op_start_us != 0) {
      builder_.arg("op_start_rel_us", node.op_start_us);
      builder_.arg("op_end_rel_us", node.op_end_us);
    }
    if (node.scheduled_us != 0) builder_.arg("scheduled_us", node.scheduled_us);
    if (node.thread != 0) builder_.arg("thread_id", static_cast<int64_t>(node.thread));
    if (node.allocator_bytes != 0) builder_.arg("allocator_bytes", node.allocator_bytes);
    if (!node.outputs.empty()) {
      uint64_t bytes = 0;
      for (const NodeOutput& output : node.outputs)
        bytes += static_cast<uint64_t>(output.requested_bytes);
      builder_.arg("outputs", static_cast<int64_t>(node.outputs.size()));
      builder_.arg("output_bytes", static_cast<int64_t>(bytes));
    }
    if (options_.steps) builder_.arg("group_id", group_);
  }

  // Tensors live from their op's start to the end of the last op that reads them.
  void connect(const std::vector<Placed>& placed) {
    for (const Placed& p : placed) {
      for (size_t k = 0; k < p.node->outputs.size(); ++k) {
        const NodeOutput& output = p.node->outputs[k];
        std::string name(p.node->name);
        if (k > 0) name += fmt::format(":{}", k);
        tensors_.insert_or_assign(name, order_.size());
        order_.push_back({p.slice, p.track, p.begin, p.end,
                          std::max<int64_t>(0, output.requested_bytes), output.allocator});
      }
    }
    for (const Placed& p : placed) {
      for (const std::string_view input : p.inputs) {
        auto found = tensors_.find(input);
        if (found == tensors_.end()) {
          const size_t suffix = input.rfind("/_");
          if (suffix == std::string_view::npos || suffix == 0) continue;
          found = tensors_.find(input.substr(0, suffix));
          if (found == tensors_.end()) continue;
        }
        Tensor& tensor = order_[found->second];
        tensor.last = std::max(tensor.last, p.end - 1'000'000);
        if (options_.dataflow && tensor.track != p.track)
          builder_.flow(tensor.producer, p.slice, "DataFlow");
      }
    }
  }

  void mark_step(const StepStatsRun& run, size_t index) {
    if (steps_ == kNone) {
      TrackId host = kNone;
      for (const auto& [device, track] : processes_) {
        if (builder_.text(builder_.edit(track).name) == "/host:CPU") host = std::min(host, track);
      }
      if (host == kNone) host = builder_.process("/host:CPU", 0);
      steps_ = builder_.track(TrackKind::kThread, host, "runs", -1);
      builder_.edit(steps_).order = -1;
    }
    const std::string name = clean(run.name.empty() ? "run" : run.name);
    builder_.slice(steps_, {to_ps(extents_[index].begin, index)},
                   {std::min(extents_[index].length(), trace::kTimeLimit / 1000) * 1000},
                   builder_.label(name, "Run"));
    builder_.arg("group_id", group_);
    builder_.arg("step_name", run.step ? fmt::format("{}", *run.step) : fmt::format("{}", index));
    if (run.step) builder_.arg("step_num", *run.step);
    builder_.arg("wall_time_ns", extents_[index].begin);
  }

  // --- memory ---

  struct Counter {
    std::string name;
    std::vector<std::pair<int64_t, int64_t>> changes;  // time, bytes
  };

  void collect_memory() {
    for (const Tensor& tensor : order_) {
      if (tensor.allocator.empty() && tensor.bytes == 0) continue;
      Counter& counter = counters_[std::string(tensor.allocator)];
      counter.name = tensor.allocator.empty() ? "memory" : clean(tensor.allocator);
      counter.changes.emplace_back(tensor.begin, tensor.bytes);
      counter.changes.emplace_back(tensor.last, -tensor.bytes);
    }
  }

  void add_memory(const Counter& counter) {
    if (memory_ == kNone) memory_ = builder_.process("Allocators", 0);
    const TrackId track = builder_.track(TrackKind::kCounter, memory_, counter.name, 0);
    auto changes = counter.changes;
    std::stable_sort(changes.begin(), changes.end());
    double total = 0;
    for (const auto& [time, bytes] : changes) {
      total += static_cast<double>(bytes);
      builder_.point(track, {time}, total);
    }
  }

  void report(std::span<const StepStatsRun> runs) {
    uint64_t damaged = 0, cut = 0;
    for (const StepStatsRun& run : runs) {
      damaged += run.stats.damaged;
      cut += run.stats.cut;
    }
    if (cut != 0) {
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        fmt::format("{} of {} runs are cut off or damaged; what could be read is "
                                    "shown",
                                    cut, runs.size()));
    }
    if (damaged != 0) {
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        fmt::format("{} nodes could only be decoded in part", damaged));
    }
    if (moved_) {
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          "the runs lie far apart and are shown one after another; wall_time_ns of each run is its "
          "true time");
    }
  }

  const StepStatsOptions& options_;
  Builder& builder_;
  std::vector<Extent> extents_;
  std::vector<int64_t> shift_ns_;  // taken off the times of each run
  bool moved_ = false, has_streams_ = false;
  int64_t group_ = 0;
  std::map<std::string, TrackId> processes_;
  std::map<std::tuple<TrackId, std::string, uint32_t>, TrackId> lanes_;
  boost::unordered_flat_map<std::string, LabelId> labels_;
  std::map<std::string_view, size_t> op_numbers_;  // ops with kernels
  std::map<std::string, size_t, std::less<>> tensors_;
  std::vector<Tensor> order_;
  std::map<std::string, Counter> counters_;
  TrackId steps_ = kNone, memory_ = kNone;
  int64_t next_process_ = 0;
};

}  // namespace

void fill_trace(std::span<const StepStatsRun> runs, const StepStatsOptions& options,
                Builder& builder) {
  Filler(options, builder).run(runs);
}

}  // namespace sonde::imports
