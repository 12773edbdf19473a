#include "capture/export/tf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/strings.h"
#include "codec/json.h"
#include "graph/pbtxt.h"

namespace sonde::exports {
namespace {

using imports::DeviceStats;
using imports::NodeLabel;
using imports::NodeOutput;
using imports::NodeStats;
using imports::StepStats;

// a - b that wraps around on hostile numbers.
int64_t less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// One event, four blanks a level.
class Event {
 public:
  Event(io::TextOut& out, bool is_first) : out_(out), text_(out.text()) {
    text_ += is_first ? "\n" : ",\n";
    text_ += "        {";
  }
  ~Event() {
    if (!is_open_) return;
    text_ += "\n        }";
    out_.piece_done();
  }
  Event(Event&& other) noexcept
      : out_(other.out_), text_(other.text_), depth_(other.depth_), first_(other.first_) {
    other.is_open_ = false;
  }
  Event& operator=(const Event&) = delete;

  Event& text(std::string_view key, std::string_view value) {
    name(key);
    append_ascii_json_string(text_, value);
    return *this;
  }
  Event& number(std::string_view key, int64_t value) {
    name(key);
    text_ += fmt::format("{}", value);
    return *this;
  }
  template <class Fn>
  void object(std::string_view key, const Fn& fn) {
    name(key);
    text_ += '{';
    depth_ += 4;
    first_ = true;
    fn();
    depth_ -= 4;
    first_ = false;
    text_ += fmt::format("\n{:{}}}}", "", depth_);
  }

 private:
  void name(std::string_view key) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_.append(static_cast<size_t>(depth_), ' ');
    append_ascii_json_string(text_, key);
    text_ += ": ";
  }
  io::TextOut& out_;
  std::string& text_;
  int depth_ = 12;
  bool first_ = true, is_open_ = true;
};

struct Tensor {
  std::string name, allocator;
  int64_t id = 0, created = 0, last = 0, bytes = 0;
  int pid = 0;
  int64_t ready = 0;  // where flows from it begin
  int flow_pid = 0;
  uint32_t lane = 0;
};

class Writer {
 public:
  Writer(const TfOptions& options, io::TextOut& out) : options_(options), out_(out) {}

  void write(std::span<const Run> runs) {
    out_.text() += "{\n    \"traceEvents\": [";
    emit_process("Allocators", 0);
    for (const Run& run : runs) name_devices(*run.stats);
    for (const Run& run : runs) write_run(*run.stats);
    out_.text() += "\n    ]\n}";
  }

 private:
  struct Pids {
    int compute = 0, tensors = 0;
  };

  Event event() {
    const bool first = is_first_;
    is_first_ = false;
    return Event(out_, first);
  }

  void emit_process(std::string_view name, int pid) {
    Event e = event();
    e.text("name", "process_name").text("ph", "M").number("pid", pid);
    e.object("args", [&] { e.text("name", name); });
  }

  void name_devices(const StepStats& stats) {
    for (const DeviceStats& device : stats.devices) {
      const auto [found, added] = pids_.try_emplace(std::string(device.device));
      if (!added) continue;
      found->second = {next_pid_, next_pid_ + 1};
      next_pid_ += 2;
      emit_process(std::string(device.device) + " Compute", found->second.compute);
      emit_process(std::string(device.device) + " Tensors", found->second.tensors);
    }
  }

  Event begin(std::string_view ph, std::string_view category, std::string_view name, int pid,
              uint32_t lane, int64_t time) {
    Event e = event();
    e.text("ph", ph).text("cat", category).text("name", name).number("pid", pid);
    e.number("tid", lane).number("ts", time);
    return e;
  }

  void write_run(const StepStats& stats) {
    first_object_ += static_cast<int64_t>(tensors_.size());
    tensors_.clear();
    by_name_.clear();
    lanes_.clear();
    for (const DeviceStats& device : stats.devices) lanes_.push_back(imports::packed_lanes(device));
    for (size_t d = 0; d < stats.devices.size(); ++d) {
      for (size_t i = 0; i < stats.devices[d].nodes.size(); ++i)
        produce(stats.devices[d], stats.devices[d].nodes[i], lanes_[d][i]);
    }
    for (size_t d = 0; d < stats.devices.size(); ++d) {
      for (size_t i = 0; i < stats.devices[d].nodes.size(); ++i)
        compute(stats.devices[d], stats.devices[d].nodes[i], lanes_[d][i]);
    }
    if (options_.shows_memory) memory();
  }

  void produce(const DeviceStats& device, const NodeStats& node, uint32_t lane) {
    const Pids pids = pids_[std::string(device.device)];
    const int64_t end = node.end_at_us();
    details_.read(node);
    for (size_t k = 0; k < details_.outputs.size(); ++k) {
      const NodeOutput& output = details_.outputs[k];
      std::string name(node.name);
      if (k > 0) name += fmt::format(":{}", k);
      Tensor tensor{name, std::string(output.allocator)};
      tensor.id = first_object_ + static_cast<int64_t>(tensors_.size());
      tensor.created = node.start_us;
      tensor.last = end;
      tensor.bytes = output.requested_bytes;
      tensor.pid = pids.tensors;
      tensor.ready = end;
      tensor.flow_pid = pids.compute;
      tensor.lane = lane;
      const auto [found, added] = by_name_.try_emplace(name, tensors_.size());
      if (options_.shows_memory) {
        begin("N", "Tensor", name, pids.tensors, lane, node.start_us).number("id", tensor.id);
        snapshot(tensor, output, less(end, 1), lane);
      }
      if (added) {
        tensors_.push_back(std::move(tensor));
      } else {
        tensors_[found->second] = std::move(tensor);
      }
    }
  }

  void snapshot(const Tensor& tensor, const NodeOutput& output, int64_t time, uint32_t lane) {
    std::string text = graph::to_pbtxt(output.description, graph::kTensorDescription).value_or("");
    std::erase(text, '"');
    Event e = begin("O", "Tensor", tensor.name, tensor.pid, lane, time);
    e.number("id", tensor.id);
    e.object("args", [&] { e.object("snapshot", [&] { e.text("tensor_description", text); }); });
  }

  void compute(const DeviceStats& device, const NodeStats& node, uint32_t lane) {
    const int pid = pids_[std::string(device.device)].compute;
    const bool gpu = imports::is_gpu_trace(device.device);
    const NodeLabel label = imports::parse_label(node, gpu);
    {
      Event e = event();
      e.text("ph", "X").text("cat", "Op").text("name", label.op).number("pid", pid);
      e.number("tid", lane).number("ts", node.start_us).number("dur", node.end_us);
      e.object("args", [&] {
        e.text("name", label.name).text("op", label.op);
        for (size_t i = 0; i < label.inputs.size(); ++i)
          e.text(fmt::format("input{}", i), label.inputs[i]);
      });
    }
    if (gpu || node.name == "RecvTensor") return;
    for (std::string_view input : label.inputs) {
      auto found = by_name_.find(input);
      if (found == by_name_.end()) {
        const size_t suffix = input.rfind("/_");
        if (suffix != std::string_view::npos && suffix > 0) input = input.substr(0, suffix);
        found = by_name_.find(input);
      }
      if (found == by_name_.end()) continue;
      Tensor& tensor = tensors_[found->second];
      tensor.last = std::max(tensor.last, less(node.end_at_us(), 1));
      if (!options_.shows_dataflow || (tensor.flow_pid == pid && tensor.lane == lane)) continue;
      const int64_t id = next_flow_++;
      begin("s", "DataFlow", input, tensor.flow_pid, tensor.lane, tensor.ready).number("id", id);
      begin("t", "DataFlow", input, pid, lane, node.start_us).number("id", id);
    }
  }

  void memory() {
    struct Change {
      int64_t time, bytes;
      std::string_view name;
    };
    std::vector<std::pair<std::string_view, std::vector<Change>>> allocators;
    std::map<std::string_view, size_t> places;
    for (const Tensor& tensor : tensors_) {
      begin("D", "Tensor", tensor.name, tensor.pid, 0, tensor.last).number("id", tensor.id);
      const auto [found, added] = places.try_emplace(tensor.allocator, allocators.size());
      if (added) allocators.push_back({tensor.allocator, {}});
      auto& changes = allocators[found->second].second;
      changes.push_back({tensor.created, tensor.bytes, tensor.name});
      changes.push_back({tensor.last, less(0, tensor.bytes), tensor.name});
    }
    for (auto& [allocator, changes] : allocators) {
      std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return std::tie(a.time, a.bytes, a.name) < std::tie(b.time, b.bytes, b.name);
      });
      uint64_t total = 0;  // wraps around instead of overflowing on hostile sizes
      for (const Change& change : changes) {
        total += static_cast<uint64_t>(change.bytes);
        Event e = begin("C", "Memory", allocator, 0, 0, change.time);
        e.object("args", [&] { e.number(allocator, static_cast<int64_t>(total)); });
      }
    }
  }

  const TfOptions& options_;
  io::TextOut& out_;
  bool is_first_ = true;
  int next_pid_ = 1;
  int64_t next_flow_ = 0, first_object_ = 0;
  std::map<std::string, Pids> pids_;
  imports::NodeDetails details_;              // of the node at hand
  std::vector<std::vector<uint32_t>> lanes_;  // by device
  std::vector<Tensor> tensors_;               // in order of first appearance
  std::map<std::string, size_t, std::less<>> by_name_;
};

}  // namespace

void write_tf(std::span<const Run> runs, const TfOptions& options, io::TextOut& out) {
  Writer(options, out).write(runs);
}

}  // namespace sonde::exports
