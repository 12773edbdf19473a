#include "capture/analysis/memory/snapshot.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>

namespace sonde::capture::memory {
namespace {

using trace::kNone;
using trace::SliceId;
using trace::Trace;

constexpr int64_t kMostBytes = int64_t{1} << 56;  // of one allocation: sums stay far from overflow

// Arguments by the names the importers give them.
struct Keys {
  explicit Keys(const Trace& trace)
      : address(trace.key("addr")),
        bytes(trace.key("bytes")),
        count(trace.key("count")),
        stack(trace.key("stack")),
        stream(trace.key("stream")),
        segment(trace.key("segment")),
        allocated(trace.key("allocated")),
        expandable(trace.key("expandable")),
        device_free(trace.key("device_free")) {}
  trace::KeyId address, bytes, count, stack, stream, segment, allocated, expandable, device_free;
};

int64_t size_of(const Trace& trace, SliceId s, trace::KeyId key) {
  const auto value = trace.find(trace.args(s), key);
  return value && value->is_number() ? std::clamp<int64_t>(value->as_int(), 0, kMostBytes) : 0;
}
uint64_t address_of(const Trace& trace, SliceId s, trace::KeyId key) {
  const auto value = trace.find(trace.args(s), key);
  return value && value->is_number() ? value->as_uint() : 0;
}
trace::StringId stack_of(const Trace& trace, SliceId s, trace::KeyId key) {
  const auto value = trace.find(trace.args(s), key);
  return value && value->type == trace::ArgType::kText ? static_cast<trace::StringId>(value->bits)
                                                       : kNone;
}

class History {
 public:
  History(const Trace& trace, const Keys& keys, Device& device)
      : trace_(trace), keys_(keys), device_(device) {}

  void take(const trace::Track& track) {
    if (track.slices == 0) return;
    device_.has_history = true;
    device_.begin_ps = trace_.begin(track.first_slice).value;
    device_.end_ps = trace_.begin(track.first_slice + track.slices - 1).value;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) take(s);
  }

  // What was there before the history began: what is left at the end and was never allocated in it.
  void finish() {
    int64_t older = 0;
    for (const Allocation& one : device_.allocations) older += one.is_older ? one.bytes : 0;
    for (const Block& block : device_.blocks) {
      if (!block.is_used) continue;
      const auto found = open_.find(block.address);
      if (found != open_.end()) {
        Allocation& one = device_.allocations[found->second];
        if (one.stack == kNone) one.stack = block.stack;
        continue;
      }
      older += block.bytes;
      device_.allocations.push_back(
          {block.address, block.bytes, device_.begin_ps, device_.end_ps, block.stack, true, true});
    }
    for (const auto& [address, index] : open_) {
      device_.allocations[index].end_ps = device_.end_ps;
      device_.allocations[index].is_alive = true;
    }
    for (Point& point : device_.curve) point.allocated += older;
    const int64_t reserved_before = std::max<int64_t>(0, device_.reserved - reserved_);
    if (!device_.segments.empty())
      for (Point& point : device_.curve) point.reserved += reserved_before;
    std::stable_sort(
        device_.allocations.begin(), device_.allocations.end(),
        [](const Allocation& a, const Allocation& b) { return a.begin_ps < b.begin_ps; });
    device_.peak_bytes = older;
    device_.peak_ps = device_.begin_ps;
    for (const Point& point : device_.curve) {
      if (point.allocated <= device_.peak_bytes) continue;
      device_.peak_bytes = point.allocated;
      device_.peak_ps = point.time_ps;
    }
  }

 private:
  void take(SliceId s) {
    const std::string_view action = trace_.name(s);
    const int64_t time = trace_.begin(s).value, bytes = size_of(trace_, s, keys_.bytes);
    const uint64_t address = address_of(trace_, s, keys_.address);
    if (action == "alloc") {
      open_[address] = device_.allocations.size();
      device_.allocations.push_back(
          {address, bytes, time, time, stack_of(trace_, s, keys_.stack), false, false});
      allocated_ += bytes;
    } else if (action == "free_completed" || action == "free") {
      const auto found = open_.find(address);
      if (found != open_.end()) {
        device_.allocations[found->second].end_ps = time;
        allocated_ -= device_.allocations[found->second].bytes;
        open_.erase(found);
      } else {
        // The stack of the event is who freed it, not who made it.
        device_.allocations.push_back({address, bytes, device_.begin_ps, time, kNone, true, false});
        allocated_ -= bytes;
      }
    } else if (action == "segment_alloc" || action == "segment_map") {
      reserved_ += bytes;
      device_.segment_changes.push_back({time, address, bytes, true});
    } else if (action == "segment_free" || action == "segment_unmap") {
      reserved_ -= bytes;
      device_.segment_changes.push_back({time, address, bytes, false});
    } else if (action == "oom") {
      device_.failures.push_back(
          {time, bytes, size_of(trace_, s, keys_.device_free), stack_of(trace_, s, keys_.stack)});
      return;
    } else {
      return;
    }
    device_.curve.push_back({time, allocated_, reserved_});
  }

  const Trace& trace_;
  const Keys& keys_;
  Device& device_;
  boost::unordered_flat_map<uint64_t, size_t> open_;
  int64_t allocated_ = 0, reserved_ = 0;
};

void take_blocks(const Trace& trace, const Keys& keys, const trace::Track& track, Device& device) {
  for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    Block block;
    block.address = address_of(trace, s, keys.address);
    block.segment = address_of(trace, s, keys.segment);
    block.bytes = size_of(trace, s, keys.bytes);
    block.count = std::max<int64_t>(1, size_of(trace, s, keys.count));
    block.state = trace.label(s).name;
    block.stack = stack_of(trace, s, keys.stack);
    block.is_used = trace.name(s) != "inactive";
    if (block.is_used) device.allocated += block.bytes;
    device.blocks.push_back(block);
  }
}

void take_segments(const Trace& trace, const Keys& keys, const trace::Track& track,
                   Device& device) {
  boost::unordered_flat_map<uint64_t, int64_t> largest;
  for (const Block& block : device.blocks) {
    if (block.is_used) continue;
    int64_t& size = largest[block.segment];
    size = std::max(size, block.bytes);
  }
  for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    Segment segment;
    segment.address = address_of(trace, s, keys.address);
    segment.bytes = size_of(trace, s, keys.bytes);
    segment.allocated = size_of(trace, s, keys.allocated);
    segment.stream = static_cast<int64_t>(address_of(trace, s, keys.stream));
    segment.kind = trace.label(s).name;
    segment.is_expandable = size_of(trace, s, keys.expandable) != 0;
    const auto found = largest.find(segment.address);
    segment.largest_free = found == largest.end() ? 0 : found->second;
    device.reserved += segment.bytes;
    device.segments.push_back(segment);
  }
}

bool is_framework(std::string_view frame) {
  for (const std::string_view folder :
       {"site-packages/", "dist-packages/", "/torch/", "/jax/", "/flax/", "<frozen", "/optax/"}) {
    if (frame.find(folder) != frame.npos) return true;
  }
  return frame.starts_with("torch/") || frame.starts_with("jax/");
}

}  // namespace

bool is_snapshot(const Trace& trace) {
  return trace.format() == "torch_memory" || trace.format() == "device_memory";
}

double Device::fragmentation() const {
  int64_t free = 0, largest = 0;
  for (const Block& block : blocks) {
    if (block.is_used) continue;
    free += block.bytes;
    largest = std::max(largest, block.bytes);
  }
  return free == 0 ? 0 : 1 - static_cast<double>(largest) / static_cast<double>(free);
}

Moment moment_of(const Device& device, int64_t time_ps) {
  Moment out;
  out.time_ps = time_ps;
  // From the end back: what was taken later was not there, what was given back later still was.
  std::map<uint64_t, int64_t> areas;
  for (const Segment& segment : device.segments) areas[segment.address] = segment.bytes;
  for (auto change = device.segment_changes.rbegin();
       change != device.segment_changes.rend() && change->time_ps > time_ps; ++change) {
    if (!change->is_taken) {
      areas[change->address] = change->bytes;
      continue;
    }
    // A part of a segment that grows is taken away at its end.
    auto area = areas.upper_bound(change->address);
    if (area == areas.begin()) continue;
    --area;
    const uint64_t before = change->address - area->first;
    if (before >= static_cast<uint64_t>(area->second)) continue;
    const int64_t behind = area->second - static_cast<int64_t>(before) - change->bytes;
    if (behind > 0) areas[change->address + static_cast<uint64_t>(change->bytes)] = behind;
    if (before == 0) {
      areas.erase(area);
    } else {
      area->second = static_cast<int64_t>(before);
    }
  }
  for (const auto& [address, bytes] : areas) out.segments.push_back({address, bytes});
  std::stable_sort(out.segments.begin(), out.segments.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (const Allocation& one : device.allocations) {
    if (one.begin_ps <= time_ps && (one.end_ps > time_ps || one.is_alive))
      out.allocations.push_back(&one);
  }
  std::stable_sort(
      out.allocations.begin(), out.allocations.end(),
      [](const Allocation* a, const Allocation* b) { return a->address < b->address; });
  return out;
}

std::vector<Device> devices_of(const Trace& trace) {
  std::vector<Device> devices;
  const Keys keys(trace);
  for (trace::TrackId t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != trace::TrackKind::kProcess) continue;
    Device device;
    device.name = trace.shown_track_name(t);
    const trace::Track *events = nullptr, *blocks = nullptr, *segments = nullptr;
    for (const trace::TrackId child : trace.children(t)) {
      const std::string_view name = trace.track_name(child);
      const trace::Track* track = &trace.tracks()[child];
      if (name == "allocator") events = track;
      if (name == "blocks") blocks = track;
      if (name == "segments") segments = track;
    }
    if (blocks) take_blocks(trace, keys, *blocks, device);
    if (segments) take_segments(trace, keys, *segments, device);
    History history(trace, keys, device);
    if (events) history.take(*events);
    if (device.has_history) {
      history.finish();
    } else {
      device.peak_bytes = device.allocated;
    }
    if (device.has_history || !device.blocks.empty() || !device.segments.empty())
      devices.push_back(std::move(device));
  }
  return devices;
}

std::string_view site_of(std::string_view stack) {
  std::string_view first;
  for (size_t at = 0; at < stack.size();) {
    const size_t end = std::min(stack.find('\n', at), stack.size());
    const std::string_view frame = stack.substr(at, end - at);
    at = end + 1;
    if (first.empty()) first = frame;
    // A comprehension has a frame of its own in older Pythons: the function around it says more.
    const bool is_inner = frame.ends_with("comp>") || frame.ends_with("<genexpr>");
    if (frame.find(".py(") != frame.npos && !is_inner && !is_framework(frame)) return frame;
  }
  return first;
}

}  // namespace sonde::capture::memory
