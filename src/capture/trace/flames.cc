// Call stacks of a selection as a tree, and that tree put together in other ways.
#include <boost/unordered/unordered_flat_map.hpp>

#include "capture/trace/selected.h"

namespace sonde::trace {
namespace {

// Grows a tree by paths of labels.
class Tree {
 public:
  // Adds a stack; its time goes to every node of the path, and as self time to `owner` in it.
  void add(const std::vector<LabelId>& path, size_t owner, const FlameNode& node) {
    nodes_[0].total = nodes_[0].total + node.self;
    uint32_t at = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      const auto [found, is_new] =
          known_.emplace(uint64_t{at} << 32 | path[i], static_cast<uint32_t>(nodes_.size()));
      if (is_new) nodes_.push_back({path[i], at, 0, {}, {}});
      at = found->second;
      nodes_[at].total = nodes_[at].total + node.self;
      if (i != owner) continue;
      nodes_[at].self = nodes_[at].self + node.self;
      nodes_[at].count += node.count;
    }
    if (path.empty()) nodes_[0].self = nodes_[0].self + node.self;
  }
  std::vector<FlameNode> nodes() && { return std::move(nodes_); }

 private:
  std::vector<FlameNode> nodes_{1};
  boost::unordered_flat_map<uint64_t, uint32_t> known_;  // parent << 32 | label
};

// The labels that a filter is about; empty when it is not used.
Result<std::vector<bool>> fitting(const Trace& trace, const std::string& text) {
  if (text.empty()) return std::vector<bool>{};
  return labels_matching(trace, text);
}

}  // namespace

std::vector<FlameNode> flame(const Trace& trace, const Selection& selection) {
  std::vector<FlameNode> nodes(1);
  boost::unordered_flat_map<uint64_t, uint32_t> known;  // parent << 32 | label
  std::vector<uint32_t> path;                           // flame nodes of the stack
  for_each_nested(trace, selection,
                  [&](SliceId s, const std::vector<SliceId>& stack, const SelectedTrack& part) {
                    // The stack may hold slices outside the selection; they are the path all the
                    // same.
                    path.assign(1, 0);
                    for (const SliceId above : stack) {
                      const auto [at, is_new] =
                          known.emplace(uint64_t{path.back()} << 32 | trace.label_id(above),
                                        static_cast<uint32_t>(nodes.size()));
                      if (is_new) nodes.push_back({trace.label_id(above), path.back(), 0, {}, {}});
                      path.push_back(at->second);
                    }
                    const auto [at, is_new] =
                        known.emplace(uint64_t{path.back()} << 32 | trace.label_id(s),
                                      static_cast<uint32_t>(nodes.size()));
                    if (is_new) nodes.push_back({trace.label_id(s), path.back(), 0, {}, {}});
                    FlameNode& node = nodes[at->second];
                    const Picos inside = part.covered(trace.begin(s), trace.end(s));
                    ++node.count;
                    node.total = node.total + inside;
                    node.self = node.self + inside;
                    FlameNode& parent = nodes[path.back()];
                    if (path.size() == 1) {
                      parent.total = parent.total + inside;
                    } else {
                      parent.self = std::max(Picos{0}, parent.self - inside);
                    }
                  });
  return nodes;
}

Result<std::vector<FlameNode>> reshaped(const Trace& trace, const std::vector<FlameNode>& nodes,
                                        const FlameShape& shape) {
  SONDE_TRY(pivot, fitting(trace, shape.pivot));
  SONDE_TRY(keep, fitting(trace, shape.keep_stack));
  SONDE_TRY(drop, fitting(trace, shape.drop_stack));
  SONDE_TRY(without, fitting(trace, shape.drop_frame));
  const bool is_up = shape.direction == FlameShape::Direction::kBottomUp;
  Tree tree;
  std::vector<LabelId> path;
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i].count == 0 && nodes[i].self.value == 0) continue;
    path.clear();
    for (uint32_t at = i; at != 0; at = nodes[at].parent) path.push_back(nodes[at].label);
    std::reverse(path.begin(), path.end());
    const auto any = [&](const std::vector<bool>& fits) {
      return std::any_of(path.begin(), path.end(), [&](LabelId label) { return fits[label]; });
    };
    if (!keep.empty() && !any(keep)) continue;
    if (!drop.empty() && any(drop)) continue;
    FlameNode own = nodes[i];
    if (!pivot.empty()) {
      const auto at =
          std::find_if(path.begin(), path.end(), [&](LabelId label) { return pivot[label]; });
      if (at == path.end()) continue;
      if (is_up) {
        if (at + 1 != path.end()) own.count = 0;  // a call below the pivot is none of the pivot
        path.erase(at + 1, path.end());
      } else {
        path.erase(path.begin(), at);
      }
    }
    if (!without.empty()) {
      const bool is_left_out = without[path.back()];
      std::erase_if(path, [&](LabelId label) { return without[label]; });
      if (is_left_out) own.count = 0;
    }
    if (is_up) std::reverse(path.begin(), path.end());
    tree.add(path, is_up || path.empty() ? 0 : path.size() - 1, own);
  }
  return std::move(tree).nodes();
}

}  // namespace sonde::trace
