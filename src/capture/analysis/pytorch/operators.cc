#include "capture/analysis/pytorch/operators.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace sonde::capture::pytorch {
namespace {

constexpr size_t kMaxFrames = 64;

struct Key {
  uint32_t name, detail;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    return (uint64_t{k.name} << 32 | k.detail) * 0x9E3779B97F4A7C15u >> 7;
  }
};

// The text argument's id in the trace's string table.
uint32_t text_id(const Capture& c, trace::SliceId s, trace::KeyId key) {
  const auto value = c.trace.find(c.trace.args(s), key);
  return value && value->type == trace::ArgType::kText ? static_cast<uint32_t>(value->bits) : kNone;
}

uint32_t shapes_id(const Capture& c, trace::SliceId s) {
  const uint32_t id = text_id(c, s, c.words.input_dims);
  return id != kNone ? id : text_id(c, s, c.words.old_input_dims);
}

// Stacks of captures with Python frames, told apart by the innermost frame and its parents. Frames
// are slices of the same track; a sweep keeps those that are open.
class FrameStacks {
 public:
  explicit FrameStacks(const Capture& c) : c_(c) {}

  // Nodes must be asked in order (by track, then begin).
  uint32_t id_at(const Node& node) {
    if (node.track != track_) {
      track_ = node.track;
      const trace::Track& line = c_.trace.tracks()[track_];
      next_ = line.first_slice;
      open_.clear();
    }
    for (; next_ < node.slice; ++next_) {
      const Kind kind = c_.words.of(c_.trace, next_).kind;
      if (kind != Kind::kPython && kind != Kind::kModule) continue;
      pop(c_.trace.begin(next_).value);
      const uint32_t above = open_.empty() ? kNone : open_.back().stack;
      const Key key{c_.trace.label_id(next_), above};
      const auto [at, is_new] = ids_.try_emplace(key, static_cast<uint32_t>(stacks_.size()));
      if (is_new) stacks_.push_back(key);
      open_.push_back({at->second, c_.trace.end(next_).value});
    }
    pop(node.begin);
    return open_.empty() ? kNone : open_.back().stack;
  }

  std::string text(uint32_t stack) const {
    std::string out;
    for (size_t depth = 0; stack != kNone && depth < kMaxFrames; ++depth) {
      if (!out.empty()) out += ';';
      out += c_.trace.text(c_.trace.labels()[stacks_[stack].name].name);
      stack = stacks_[stack].detail;
    }
    return out;
  }

 private:
  void pop(int64_t begin) {
    while (!open_.empty() && open_.back().end <= begin) open_.pop_back();
  }
  struct Open {
    uint32_t stack;
    int64_t end;
  };
  const Capture& c_;
  trace::TrackId track_ = kNone;
  trace::SliceId next_ = 0;
  std::vector<Open> open_;
  std::vector<Key> stacks_;  // label of the frame, stack above it
  boost::unordered_flat_map<Key, uint32_t, KeyHash> ids_;
};

bool is_recursive(const Capture& c, const Node& node) {
  const trace::StringId name = c.trace.label(node.slice).name;
  uint32_t above = node.parent;
  for (int depth = 0; above != kNone && depth < 64; ++depth, above = c.nodes[above].parent) {
    if (c.trace.label(c.nodes[above].slice).name == name) return true;
  }
  return false;
}

}  // namespace

std::vector<OperatorTotal> operator_totals(const Capture& c, GroupBy by) {
  std::vector<OperatorTotal> totals;
  boost::unordered_flat_map<Key, uint32_t, KeyHash> index;
  const bool has_stacks = c.words.call_stack != trace::kNone;
  FrameStacks frames(c);
  for (const Node& node : c.nodes) {
    if (!node.is_row || node.merged) continue;
    const uint32_t stack =
        has_stacks ? text_id(c, node.slice, c.words.call_stack) : frames.id_at(node);
    Key key{c.trace.label(node.slice).name, 0};
    if (by == GroupBy::kNameAndShapes) key.detail = shapes_id(c, node.slice);
    if (by == GroupBy::kNameAndStack) key.detail = stack;
    const auto [at, is_new] = index.try_emplace(key, static_cast<uint32_t>(totals.size()));
    if (is_new) {
      OperatorTotal& fresh = totals.emplace_back();
      fresh.name = c.name_of(node);
      if (by == GroupBy::kNameAndShapes)
        fresh.shapes = key.detail == kNone ? "[]" : spaced_list(c.trace.text(key.detail));
      if (by == GroupBy::kNameAndStack && key.detail != kNone)
        fresh.stack = has_stacks ? std::string(c.trace.text(key.detail)) : frames.text(key.detail);
      fresh.eligible = node.eligible;
    }
    OperatorTotal& total = totals[at->second];
    ++total.calls;
    total.has_stack |= stack != kNone;
    total.eligible |= node.eligible;
    total.host_ps += node.duration();
    total.self_host_ps += node.self_host_ps();
    total.launch_ps += node.launch_ps;
    if (!is_recursive(c, node)) total.outermost_ps += node.duration();
    total.device_ps += node.device_ps;
    total.self_device_ps += node.self_device_ps;
    total.tensor_core_ps += node.tensor_core_ps;
    total.self_tensor_core_ps += node.self_tensor_core_ps;
  }
  return totals;
}

}  // namespace sonde::capture::pytorch
