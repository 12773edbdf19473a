#include "capture/import/step_stats/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <tuple>

#include "base/strings.h"
#include "capture/import/step_stats/lanes.h"

namespace sonde::imports {
namespace {

using trace::Builder;
using trace::Diagnostic;
using trace::KeyId;
using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::StringId;
using trace::TrackId;
using trace::TrackKind;

// Gaps larger than this many times the runs themselves are closed.
constexpr int64_t kSparse = 20;
// Ids of lines that repeat what others hold; the tools pass over them (profile/vocabulary.cc).
constexpr int64_t kRepeatingLine = 0xdeadbeef;

struct Extent {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  bool empty() const { return begin > end; }
  // At most 26 days, which is as far as a trace reaches.
  int64_t length() const {
    int64_t length = 0;
    if (empty()) return 0;
    if (__builtin_sub_overflow(end, begin, &length)) return kLongest;
    return std::min(length, kLongest);
  }
  static constexpr int64_t kLongest = trace::kTimeLimit / 1000;
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

// Whether the label is `name = op(input, input)` and so says nothing the arguments do not.
bool is_usual(std::string_view text, const NodeLabel& label) {
  const auto take = [&](std::string_view part) {
    if (!text.starts_with(part)) return false;
    text.remove_prefix(part.size());
    return true;
  };
  if (!take(label.name) || !take(" = ") || !take(label.op) || !take("(")) return false;
  for (size_t i = 0; i < label.inputs.size(); ++i) {
    if ((i > 0 && !take(", ")) || !take(label.inputs[i])) return false;
  }
  return text == ")";
}

struct Tensor {
  SliceId producer;
  uint32_t allocator;  // index into counters_
  int64_t last;        // ps
  int64_t bytes;
};

class Filler {
 public:
  Filler(const StepStatsOptions& options, Builder& builder)
      : options_(options), builder_(builder) {}

  void run(std::span<StepStatsRun> runs) {
    place(runs);
    size_t nodes = 0;
    for (const StepStatsRun& run : runs) nodes += run.stats.node_count();
    builder_.reserve(nodes + runs.size(), 16 * nodes);
    builder_.reserve_names(nodes, nodes);
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!extents_[i].empty()) add_run(runs[i], i);
      if (!options_.keeps_nodes) runs[i].stats.devices = {};
    }
    tensors_ = {};
    order_ = {};
    labels_ = {};
    add_memory();
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
    const bool wide = span > static_cast<double>(trace::kTimeLimit) / 1000;
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
      shift_ns_[i] = static_cast<int64_t>(static_cast<uint64_t>(extents_[i].begin) -
                                          static_cast<uint64_t>(at));
      at = std::min(at + extents_[i].length() + gap, Extent::kLongest);
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
    order_.reserve(run.stats.node_count());
    for (const DeviceStats& device : run.stats.devices) {
      if (!is_gpu_trace(device.device)) placed.push_back({&device, slice_count()});
      add_device(device, index);
    }
    connect(placed);
    if (options_.steps) mark_step(run, index);
    if (options_.memory) collect_memory();
  }

  // A device whose nodes are ops: they became slices one after the other.
  struct Placed {
    const DeviceStats* device;
    SliceId first;
  };
  SliceId slice_count() const { return static_cast<SliceId>(builder_.slice_count()); }

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
    const auto add = [&](const std::string& name) {
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

  // --- slices ---

  void add_device(const DeviceStats& device, size_t run) {
    const TrackId process = device_track(device.device);
    const bool gpu = is_gpu_trace(device.device);
    std::vector<uint32_t> lanes;
    if (options_.lanes == Lanes::kPacked) {
      lanes = dense_lanes(device);
    } else if (options_.lanes == Lanes::kTensorFlow || has_overlaps(device)) {
      lanes = packed_lanes(device);
    }
    PageReleaser trail = trail_of(device);
    for (size_t i = 0; i < device.nodes.size(); ++i) {
      const NodeStats& node = device.nodes[i];
      trail.reached(node.message.data());
      const NodeLabel label = parse_label(node, gpu);
      const uint32_t lane = lanes.empty() ? (gpu ? 0 : node.thread) : lanes[i];
      const TrackId track = lane_track(process, device, lane, !lanes.empty());
      const int64_t begin = to_ps(node.begin_in_ns(), run);
      const int64_t length = std::min(node.duration_in_ns(), trace::kTimeLimit / 1000) * 1000;
      builder_.slice(track, {begin}, {length}, slice_label(node, label, gpu));
      add_args(node, label, gpu, device.device);
    }
  }

  // Text that is UTF-8; repaired in `scratch_`, which the next call overwrites, where it is not.
  std::string_view cleaned(std::string_view text) {
    return is_utf8(text) ? text : (scratch_ = to_utf8(text));
  }
  StringId string(std::string_view text) { return builder_.string(cleaned(text)); }

  // An op is "name:Type" as in every other TensorFlow capture and shown by its type; a kernel is
  // the tracer's text for it.
  LabelId slice_label(const NodeStats& node, const NodeLabel& label, bool gpu) {
    if (gpu) {
      const std::string_view name = trimmed(node.label.substr(0, node.label.find("@@")));
      return plain_label(name.empty() ? node.name : name, "kernel");
    }
    if (label.op == "unknown" || label.op == node.name || label.op.empty())
      return plain_label(node.name, "Op");
    full_name_.clear();
    full_name_ += cleaned(node.name);
    full_name_ += ':';
    full_name_ += cleaned(label.op);
    const StringId full = builder_.string(full_name_);
    const auto [found, added] = labels_.try_emplace(full, kNone);
    if (added)
      found->second = builder_.own_label(full, string(label.op), {}, builder_.string("Op"));
    return found->second;
  }
  LabelId plain_label(std::string_view name, std::string_view category) {
    return builder_.label(name.empty() ? "[no name]" : cleaned(name), category);
  }

  void text_arg(KeyId key, std::string_view text) {
    builder_.arg(key, {trace::ArgType::kText, string(text)});
  }
  void number_arg(KeyId key, int64_t value) {
    builder_.arg(key, {trace::ArgType::kInt, static_cast<uint64_t>(value)});
  }
  KeyId input_key(size_t i) {
    if (i == input_keys_.size()) input_keys_.push_back(builder_.key(fmt::format("input{}", i)));
    return input_keys_[i];
  }

  void add_args(const NodeStats& node, const NodeLabel& label, bool gpu, std::string_view device) {
    details_.read(node);
    text_arg(keys_.name, label.name);
    text_arg(keys_.op, label.op);
    for (size_t i = 0; i < label.inputs.size() && i < 1000; ++i)
      text_arg(input_key(i), label.inputs[i]);
    if (!node.label.empty() && !is_usual(node.label, label)) text_arg(keys_.label, node.label);
    if (gpu) {
      text_arg(keys_.device, device);
      if (!label.name.empty() && label.name != node.name) text_arg(keys_.tf_op, label.name);
      const bool copy = node.name.find("MEMCPY") != std::string_view::npos ||
                        node.label.find("MEMCPY") != std::string_view::npos;
      if (copy) text_arg(keys_.memcpy_details, node.label);
    }
    // Launch and kernels of one op are told together by the op's name in the tracer's label.
    if (const auto found = op_numbers_.find(label.name); found != op_numbers_.end())
      number_arg(keys_.correlation_id, static_cast<int64_t>(found->second));
    if (details_.op_end_us != 0 || details_.op_start_us != 0) {
      number_arg(keys_.op_start, details_.op_start_us);
      number_arg(keys_.op_end, details_.op_end_us);
    }
    if (details_.scheduled_us != 0) number_arg(keys_.scheduled, details_.scheduled_us);
    if (node.thread != 0) number_arg(keys_.thread, static_cast<int64_t>(node.thread));
    if (details_.allocator_bytes != 0) number_arg(keys_.allocator_bytes, details_.allocator_bytes);
    if (!details_.outputs.empty()) {
      uint64_t bytes = 0;
      for (const NodeOutput& output : details_.outputs)
        bytes += static_cast<uint64_t>(output.requested_bytes);
      number_arg(keys_.outputs, static_cast<int64_t>(details_.outputs.size()));
      number_arg(keys_.output_bytes, static_cast<int64_t>(bytes));
    }
    if (options_.steps) number_arg(keys_.group_id, group_);
  }

  // Tensors live from their op's start to the end of the last op that reads them. Names of tensors
  // that are read are arguments by now: one that is no known string has no reader.
  void connect(const std::vector<Placed>& placed) {
    for (const Placed& p : placed) {
      for_each_node(p, [&](const NodeStats& node, SliceId slice) { produce(node, slice); });
    }
    for (const Placed& p : placed) {
      for_each_node(p, [&](const NodeStats& node, SliceId slice) { consume(node, slice); });
    }
  }

  // The nodes of a device lie one behind the other in the file.
  PageReleaser trail_of(const DeviceStats& device) const {
    return {options_.part_read, device.nodes.empty() ? nullptr : device.nodes[0].message.data()};
  }
  template <class Fn>
  void for_each_node(const Placed& placed, const Fn& fn) {
    PageReleaser trail = trail_of(*placed.device);
    SliceId slice = placed.first;
    for (const NodeStats& node : placed.device->nodes) {
      trail.reached(node.message.data());
      fn(node, slice++);
    }
  }

  void produce(const NodeStats& node, SliceId slice) {
    details_.read(node);
    for (size_t k = 0; k < details_.outputs.size(); ++k) {
      const NodeOutput& output = details_.outputs[k];
      const StringId name =
          builder_.find(k == 0 ? cleaned(node.name) : fmt::format("{}:{}", clean(node.name), k));
      if (name != kNone) tensors_.insert_or_assign(name, static_cast<uint32_t>(order_.size()));
      order_.push_back({slice, counter_of(output), builder_.end_of(slice).value,
                        std::max<int64_t>(0, output.requested_bytes)});
    }
  }

  void consume(const NodeStats& node, SliceId slice) {
    for (const std::string_view input : parse_label(node, false).inputs) {
      auto found = tensors_.find(builder_.find(cleaned(input)));
      if (found == tensors_.end()) {
        const size_t suffix = input.rfind("/_");
        if (suffix == std::string_view::npos || suffix == 0) continue;
        found = tensors_.find(builder_.find(cleaned(input.substr(0, suffix))));
        if (found == tensors_.end()) continue;
      }
      Tensor& tensor = order_[found->second];
      tensor.last = std::max(tensor.last, builder_.end_of(slice).value - 1'000'000);
      if (options_.dataflow && builder_.track_of(tensor.producer) != builder_.track_of(slice))
        builder_.flow(tensor.producer, slice, "DataFlow");
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

  // Outputs without an allocator and without bytes are in none.
  uint32_t counter_of(const NodeOutput& output) {
    if (output.allocator.empty() && output.requested_bytes <= 0) return kNone;
    const auto found = counter_ids_.find(output.allocator);
    if (found != counter_ids_.end()) return found->second;
    const auto id = static_cast<uint32_t>(counters_.size());
    counter_ids_.emplace(std::string(output.allocator), id);
    counters_.push_back({output.allocator.empty() ? "memory" : clean(output.allocator), {}});
    return id;
  }

  void collect_memory() {
    std::vector<size_t> more(counters_.size(), 0);
    for (const Tensor& tensor : order_) {
      if (tensor.allocator != kNone) more[tensor.allocator] += 2;
    }
    for (size_t i = 0; i < more.size(); ++i) {
      auto& changes = counters_[i].changes;
      if (changes.capacity() < changes.size() + more[i])
        changes.reserve(std::max(changes.size() + more[i], 2 * changes.size()));
    }
    for (const Tensor& tensor : order_) {
      if (tensor.allocator == kNone) continue;
      auto& changes = counters_[tensor.allocator].changes;
      changes.emplace_back(builder_.begin_of(tensor.producer).value, tensor.bytes);
      changes.emplace_back(tensor.last, -tensor.bytes);
    }
  }

  void add_memory() {
    for (const auto& [allocator, id] : counter_ids_) {
      Counter& counter = counters_[id];
      if (counter.changes.empty()) continue;
      if (memory_ == kNone) memory_ = builder_.process("Allocators", 0);
      const TrackId track = builder_.track(TrackKind::kCounter, memory_, counter.name, 0);
      std::sort(counter.changes.begin(), counter.changes.end());
      double total = 0;
      builder_.points(track, counter.changes.size(), [&](size_t i) {
        total += static_cast<double>(counter.changes[i].second);
        return std::pair(counter.changes[i].first, total);
      });
      counter.changes = {};
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
  boost::unordered_flat_map<StringId, LabelId> labels_;
  std::map<std::string_view, size_t> op_numbers_;          // ops with kernels
  boost::unordered_flat_map<StringId, uint32_t> tensors_;  // by name, into order_
  std::vector<Tensor> order_;
  std::vector<Counter> counters_;
  std::map<std::string, uint32_t, std::less<>> counter_ids_;  // by allocator
  NodeDetails details_;                                       // of the node at hand
  std::string scratch_, full_name_;
  std::vector<KeyId> input_keys_;
  struct Keys {
    explicit Keys(Builder& b)
        : name(b.key("name")),
          op(b.key("op")),
          label(b.key("label")),
          device(b.key("device")),
          tf_op(b.key("tf_op")),
          memcpy_details(b.key("memcpy_details")),
          correlation_id(b.key("correlation_id")),
          op_start(b.key("op_start_rel_us")),
          op_end(b.key("op_end_rel_us")),
          scheduled(b.key("scheduled_us")),
          thread(b.key("thread_id")),
          allocator_bytes(b.key("allocator_bytes")),
          outputs(b.key("outputs")),
          output_bytes(b.key("output_bytes")),
          group_id(b.key("group_id")) {}
    KeyId name, op, label, device, tf_op, memcpy_details, correlation_id, op_start, op_end,
        scheduled, thread, allocator_bytes, outputs, output_bytes, group_id;
  } keys_{builder_};
  TrackId steps_ = kNone, memory_ = kNone;
  int64_t next_process_ = 0;
};

}  // namespace

void fill_trace(std::span<StepStatsRun> runs, const StepStatsOptions& options, Builder& builder) {
  Filler(options, builder).run(runs);
}

}  // namespace sonde::imports
