#include "capture/analysis/pytorch/tree.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace sonde::capture::pytorch {
namespace {

using trace::SliceId;
using trace::TrackId;

class Collector {
 public:
  explicit Collector(Capture& capture) : c_(capture), t_(capture.trace) {}

  void run() {
    c_.first_ps = INT64_MAX;
    for (TrackId track = 0; track < t_.tracks().size(); ++track) {
      const trace::Track& line = t_.tracks()[track];
      if (line.slices > 0) sweep(track, line);
    }
    if (c_.first_ps == INT64_MAX) c_.first_ps = 0;
    std::stable_sort(c_.device.begin(), c_.device.end(),
                     [](const DeviceEvent& a, const DeviceEvent& b) { return a.begin < b.begin; });
    std::stable_sort(c_.memory.begin(), c_.memory.end(),
                     [&](SliceId a, SliceId b) { return t_.begin(a) < t_.begin(b); });
    swallow();
    time_of_children();
  }

 private:
  void sweep(TrackId track, const trace::Track& line) {
    open_.clear();
    frames_.clear();
    launch_end_ = INT64_MIN;
    for (SliceId s = line.first_slice; s < line.first_slice + line.slices; ++s) {
      const LabelWord& word = c_.words.of(t_, s);
      const int64_t begin = t_.begin(s).value, end = t_.end(s).value;
      if (word.kind != Kind::kOther && word.kind != Kind::kSync)
        c_.first_ps = std::min(c_.first_ps, begin);
      if (is_device(word.kind)) {
        add_device(s, word, line, {begin, end});
        continue;
      }
      switch (word.kind) {
        case Kind::kOther:
        case Kind::kSync:
        case Kind::kWindow:
        case Kind::kDeviceAnnotation:
          continue;
        case Kind::kMemory:
          c_.memory.push_back(s);
          continue;
        case Kind::kLaunch:
          add_launch(s, {begin, end});
          continue;
        default:
          break;
      }
      add_role(word, {begin, end});
      if (word.in_tree) add_node(s, track, word, {begin, end});
      const bool is_frame = word.kind == Kind::kAnnotation || word.kind == Kind::kPython ||
                            word.kind == Kind::kOptimizer || word.kind == Kind::kDataLoader;
      if (is_frame) {
        pop(frames_, begin);
        frames_.push_back({s, end});
      }
    }
  }

  void add_role(const LabelWord& word, Range range) {
    c_.has_python |= word.kind == Kind::kPython || word.kind == Kind::kModule;
    Role role = Role::kCpu;
    if (word.kind == Kind::kStep) return;
    if (word.kind == Kind::kDataLoader) role = Role::kDataLoader;
    if (word.is_communication) role = Role::kCommunication;
    append(c_.role[static_cast<size_t>(role)], range);
    if (word.kind == Kind::kOperator && !word.is_communication) append(c_.operators, range);
  }

  struct Open {
    uint32_t id;  // node or slice
    int64_t end;
  };
  static void pop(std::vector<Open>& stack, int64_t begin) {
    while (!stack.empty() && stack.back().end <= begin) stack.pop_back();
  }

  void add_node(SliceId s, TrackId track, const LabelWord& word, Range range) {
    pop(open_, range.begin);
    // A slice that outlives the one it began in is no child of it, but of what encloses both.
    size_t depth = open_.size();
    while (depth > 0 && open_[depth - 1].end < range.end) --depth;
    Node node;
    node.slice = s;
    node.track = track;
    node.parent = depth == 0 ? kNone : open_[depth - 1].id;
    node.kind = word.kind;
    node.is_row = word.is_row;
    node.eligible = word.eligible;
    node.begin = range.begin;
    node.end = range.end;
    const auto id = static_cast<uint32_t>(c_.nodes.size());
    c_.nodes.push_back(node);
    if (depth == open_.size()) open_.push_back({id, range.end});
  }

  void add_launch(SliceId s, Range range) {
    pop(open_, range.begin);
    pop(frames_, range.begin);
    append(c_.role[static_cast<size_t>(Role::kRuntime)], range);
    Launch launch;
    launch.slice = s;
    launch.begin = range.begin;
    launch.end = range.end;
    int64_t external = 0;
    const trace::ArgRange args = t_.args(s);
    for (uint32_t a = args.first; a < args.first + args.count; ++a) {
      const trace::Arg arg = t_.arg(a);
      if (arg.key == c_.words.correlation) launch.correlation = arg.value.as_int();
      if (arg.key == c_.words.external_id || arg.key == c_.words.old_external_id)
        external = arg.value.as_int();
    }
    const uint32_t innermost = open_.empty() ? kNone : open_.back().id;
    launch.node = innermost;
    if (external != 0 && external != launch.correlation) prefer_external(launch, external);
    const bool has_operator = launch.node != kNone && c_.nodes[launch.node].kind == Kind::kOperator;
    if (!has_operator) launch.owner = frame_of(launch.node);
    // A driver call inside a runtime call is not taken off its operator twice.
    const bool nested = range.begin < launch_end_;
    launch_end_ = std::max(launch_end_, range.end);
    // The call belongs to the operator it names, but its time is inside whatever encloses it.
    const uint32_t spent = is_inside(innermost, launch.node) ? innermost : launch.node;
    if (spent != kNone && !nested) c_.nodes[spent].launch_ps += range.length();
    c_.launches.push_back(launch);
  }

  bool is_inside(uint32_t node, uint32_t outer) const {
    while (node != kNone && node != outer) node = c_.nodes[node].parent;
    return node != kNone;
  }

  // Captures in whole microseconds put a call at the very end of its operator, or at the start of
  // the next: there the external id knows better, as long as the operator named does touch it.
  void prefer_external(Launch& launch, int64_t external) {
    for (size_t back = 0; back < 8 && back < c_.nodes.size(); ++back) {
      const auto n = static_cast<uint32_t>(c_.nodes.size() - 1 - back);
      const Node& node = c_.nodes[n];
      if (node.track != t_.track_of(launch.slice)) return;
      if (node.end < launch.begin || node.begin > launch.begin || node.kind == Kind::kModule)
        continue;
      if (external_id(node.slice) == external) {
        launch.node = n;
        return;
      }
    }
  }
  int64_t external_id(SliceId s) const {
    const trace::KeyId keys[] = {c_.words.external_id, c_.words.old_external_id};
    for (const trace::KeyId key : keys) {
      if (const auto id = t_.find(t_.args(s), key)) return id->as_int();
    }
    return 0;
  }

  // The innermost annotation inside the node, else the innermost Python frame that is not torch's.
  SliceId frame_of(uint32_t node) const {
    const int64_t from = node == kNone ? INT64_MIN : c_.nodes[node].begin;
    SliceId frame = kNone;
    for (size_t i = frames_.size(); i-- > 0;) {
      const SliceId s = frames_[i].id;
      if (t_.begin(s).value < from) break;
      if (c_.words.of(t_, s).kind != Kind::kPython) return s;
      const std::string_view name = t_.name(s);
      const bool is_own = !name.starts_with("<built-in") &&
                          name.find("torch/") == std::string_view::npos &&
                          name.find("threading.py") == std::string_view::npos;
      if (frame == kNone && is_own) frame = s;
    }
    return frame;
  }

  void add_device(SliceId s, const LabelWord& word, const trace::Track& line, Range range) {
    DeviceEvent event;
    event.slice = s;
    event.kind = word.kind;
    event.is_communication = word.is_communication;
    event.uses_tensor_cores = word.uses_tensor_cores;
    event.begin = range.begin;
    event.end = range.end;
    event.stream = line.id;
    const auto device = t_.find(t_.args(s), c_.words.device);
    event.device = static_cast<int32_t>(device                 ? device->as_int()
                                        : line.parent == kNone ? 0
                                                               : t_.tracks()[line.parent].id);
    c_.device.push_back(event);
  }

  // An operator whose only child has its own name is one call, not two.
  void swallow() {
    std::vector<uint32_t> children(c_.nodes.size(), 0), only(c_.nodes.size(), kNone),
        into(c_.nodes.size(), kNone);
    for (uint32_t n = 0; n < c_.nodes.size(); ++n) {
      const uint32_t parent = c_.nodes[n].parent;
      if (parent == kNone) continue;
      ++children[parent];
      only[parent] = n;
    }
    bool any = false;
    for (uint32_t n = 0; n < c_.nodes.size(); ++n) {
      Node& node = c_.nodes[n];
      if (node.merged || node.kind != Kind::kOperator) continue;
      while (children[n] == 1) {
        Node& child = c_.nodes[only[n]];
        if (child.kind != Kind::kOperator ||
            t_.label(child.slice).name != t_.label(node.slice).name)
          break;
        any = child.merged = true;
        into[only[n]] = n;
        node.launch_ps += child.launch_ps;
        children[n] = children[only[n]];
        only[n] = only[only[n]];
      }
    }
    if (!any) return;
    for (Node& node : c_.nodes) {
      if (node.parent != kNone && into[node.parent] != kNone) node.parent = into[node.parent];
    }
    for (Launch& launch : c_.launches) {
      if (launch.node != kNone && into[launch.node] != kNone) launch.node = into[launch.node];
    }
  }

  void time_of_children() {
    for (const Node& node : c_.nodes) {
      if (!node.merged && node.parent != kNone)
        c_.nodes[node.parent].children_ps += node.duration();
    }
  }

  Capture& c_;
  const trace::Trace& t_;
  std::vector<Open> open_, frames_;
  int64_t launch_end_ = INT64_MIN;
};

}  // namespace

void collect(Capture& capture) { Collector(capture).run(); }

}  // namespace sonde::capture::pytorch
