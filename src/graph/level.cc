#include "graph/level.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace sonde::graph {
namespace {

constexpr float kHeader = 26, kPadding = 14, kAsideGap = 40;

using ItemSet = boost::unordered_flat_set<uint32_t>;

struct Container {
  uint32_t node = kNone;           // its PictureNode; kNone for the whole picture
  float inset = 0;                 // from the left border to the children
  std::vector<uint32_t> children;  // PictureNodes
  std::vector<Box> boxes;          // of the children in the main picture
  std::vector<Link> links;
  std::vector<uint32_t> box_of;  // by position in children; kNone for those aside
  boost::unordered_flat_map<uint64_t, uint32_t> link_of;  // (from box, to box) -> link
};

class Painter {
 public:
  Painter(const Model& model, const Hierarchy& hierarchy, const LevelQuery& query)
      : model_(model),
        hierarchy_(hierarchy),
        query_(query),
        open_(query.open.begin(), query.open.end()),
        aside_(query.aside.begin(), query.aside.end()),
        inside_(query.inside.begin(), query.inside.end()) {}

  Picture paint() {
    find_connected_constants();
    seen_.assign(hierarchy_.items.size(), kNone);
    show_children(query_.scope, kNone);
    collect_edges();
    for (Container& container : containers_) move_aside(container);
    for (size_t i = containers_.size(); i-- > 0;)
      arrange(containers_[i]);  // inner containers come later
    place();
    route();
    return std::move(picture_);
  }

 private:
  const Item& item(uint32_t i) const { return hierarchy_.items[i]; }

  // Constants and summaries that touch something are marks on it, not boxes.
  void find_connected_constants() {
    folded_.assign(model_.nodes.size(), false);
    for (const Edge& edge : model_.edges) {
      if (model_.nodes[edge.from].role == Role::kConstant) folded_[edge.from] = true;
      if (model_.nodes[edge.to].role == Role::kSummary) folded_[edge.to] = true;
    }
  }

  bool is_drawn(uint32_t child) {
    const Item& it = item(child);
    if (it.kind == ItemKind::kOp) return !folded_[it.node];
    if (it.parent == 0 && it.path.starts_with(kFunctionPrefix) && query_.scope == 0) {
      picture_.functions.push_back(child);
      return false;
    }
    return true;
  }

  // Depth first over open scopes; depth is bounded by kMaxDepth.
  void show_children(uint32_t scope, uint32_t owner) {
    const size_t index = containers_.size();
    containers_.emplace_back();
    containers_[index].node = owner;
    std::vector<uint32_t> shown;
    for (const uint32_t child : item(scope).children) {
      if (is_drawn(child)) shown.push_back(child);
    }
    if (shown.size() > kMaxChildren) {
      std::stable_sort(shown.begin(), shown.end(),
                       [&](uint32_t a, uint32_t b) { return item(a).ops > item(b).ops; });
      picture_.left_out += shown.size() - kMaxChildren;
      shown.resize(kMaxChildren);
      std::sort(shown.begin(), shown.end());
    }
    for (const uint32_t child : shown) {
      const auto node = static_cast<uint32_t>(picture_.nodes.size());
      PictureNode& drawn = picture_.nodes.emplace_back();
      drawn.item = child;
      drawn.is_open = item(child).kind != ItemKind::kOp && open_.contains(child);
      container_of_.push_back(static_cast<uint32_t>(index));
      seen_[child] = node;
      containers_[index].children.push_back(node);
      if (picture_.nodes[node].is_open) show_children(child, node);
    }
  }

  // The visible node that stands for an item: itself or its nearest visible ancestor that is
  // closed.
  uint32_t visible(uint32_t start) const {
    for (uint32_t i = start; i != kNone && i != query_.scope; i = item(i).parent) {
      if (seen_[i] != kNone) return picture_.nodes[seen_[i]].is_open ? kNone : seen_[i];
    }
    return kNone;
  }

  void collect_edges() {
    std::vector<uint32_t> stands(model_.nodes.size());
    for (size_t i = 0; i < stands.size(); ++i) stands[i] = visible(hierarchy_.item_of_node[i]);
    boost::unordered_flat_map<uint64_t, uint32_t> known;
    for (const Edge& edge : model_.edges) {
      const uint32_t from = stands[edge.from], to = stands[edge.to];
      if (folded_[edge.from] && model_.nodes[edge.from].role == Role::kConstant) {
        if (to != kNone) ++picture_.nodes[to].constants;
        continue;
      }
      if (folded_[edge.to] && model_.nodes[edge.to].role == Role::kSummary) {
        if (from != kNone) ++picture_.nodes[from].summaries;
        continue;
      }
      if (from == kNone || to == kNone || from == to) continue;
      const uint64_t key = (uint64_t{from} << 32 | to) * 2 + (edge.kind == EdgeKind::kControl);
      const auto [at, is_new] = known.emplace(key, static_cast<uint32_t>(picture_.edges.size()));
      if (is_new) picture_.edges.push_back({from, to, edge.kind, 0, 0, "", {}, {}});
      PictureEdge& drawn = picture_.edges[at->second];
      const Node& source = model_.nodes[edge.from];
      const bool has_shape = edge.slot < source.shapes.size();
      drawn.label = ++drawn.count > 1 ? fmt::format("{} tensors", drawn.count)
                    : has_shape       ? std::string(model_.words.text(source.shapes[edge.slot]))
                                      : "";
      drawn.elements += has_shape ? source.elements[edge.slot] : 1;
      if (edge.kind == EdgeKind::kReference) drawn.kind = EdgeKind::kReference;
    }
    for (PictureEdge& edge : picture_.edges) {
      if (edge.kind == EdgeKind::kControl) edge.label.clear();
    }
  }

  // The children of the lowest common container that hold the two ends of an edge.
  struct Ends {
    uint32_t container, from, to;  // from, to: PictureNodes
  };
  Ends common(uint32_t from, uint32_t to) const {
    // Outer containers have smaller numbers: lift whichever end is deeper.
    while (container_of_[from] != container_of_[to]) {
      uint32_t& deeper = container_of_[from] > container_of_[to] ? from : to;
      deeper = containers_[container_of_[deeper]].node;
    }
    return {container_of_[from], from, to};
  }

  // TensorBoard's rules for auxiliary nodes: NoOp, outliers of degree in scopes of 15 and more.
  void move_aside(Container& container) {
    const auto container_index = static_cast<uint32_t>(&container - containers_.data());
    boost::unordered_flat_map<uint32_t, std::pair<uint32_t, uint32_t>> degrees;
    for (const uint32_t child : container.children) degrees[child] = {0, 0};
    for (const PictureEdge& edge : picture_.edges) {
      if (edge.kind == EdgeKind::kControl) continue;
      const Ends ends = common(edge.from, edge.to);
      if (ends.container != container_index || ends.from == ends.to) continue;
      ++degrees[ends.from].second;
      ++degrees[ends.to].first;
    }
    const auto limit = [&](auto pick, double factor) {
      std::vector<uint32_t> sorted;
      for (const uint32_t child : container.children) sorted.push_back(pick(degrees[child]));
      std::sort(sorted.begin(), sorted.end());
      const double q1 = sorted[sorted.size() / 4],
                   q3 = sorted[std::min(sorted.size() - 1, sorted.size() * 3 / 4)];
      return std::max(q3 + factor * (q3 - q1), 4.0);
    };
    const bool large = container.children.size() >= 15;
    const double in_limit = large ? limit([](auto d) { return d.first; }, 1) : 0;
    const double out_limit = large ? limit([](auto d) { return d.second; }, 4) : 0;
    for (const uint32_t child : container.children) {
      PictureNode& node = picture_.nodes[child];
      const Item& it = item(node.item);
      if (inside_.contains(node.item) || node.is_open) continue;
      const bool is_noop =
          it.kind == ItemKind::kOp && model_.words.text(model_.nodes[it.node].op) == "NoOp";
      const bool is_hub =
          large && (degrees[child].first > in_limit || degrees[child].second > out_limit);
      node.is_aside = aside_.contains(node.item) || is_noop || is_hub;
    }
  }

  static void add_stub(std::vector<Stub>& stubs, uint32_t& more, Stub stub) {
    if (stubs.size() < kMaxStubs) {
      stubs.push_back(stub);
    } else {
      ++more;
    }
  }

  void size_of(PictureNode& node) const {
    const Item& it = item(node.item);
    const float text = 6.6f * static_cast<float>(std::min<size_t>(it.label.size(), 26)) + 24;
    node.width = std::max(it.kind == ItemKind::kOp ? 64.0f : 110.0f, text);
    node.height = it.kind == ItemKind::kOp ? 26 : 40;
  }

  // Lays out one container; the boxes of its open children are known already.
  void arrange(Container& container) {
    container.box_of.assign(container.children.size(), kNone);
    boost::unordered_flat_map<uint32_t, uint32_t> box_of_node;
    for (size_t i = 0; i < container.children.size(); ++i) {
      PictureNode& node = picture_.nodes[container.children[i]];
      if (!node.is_open) size_of(node);
      if (node.is_aside) continue;
      container.box_of[i] = static_cast<uint32_t>(container.boxes.size());
      box_of_node[container.children[i]] = container.box_of[i];
      container.boxes.push_back({node.width, node.height, 0, 0});
    }
    const auto container_index = static_cast<uint32_t>(&container - containers_.data());
    for (const PictureEdge& edge : picture_.edges) {
      const Ends ends = common(edge.from, edge.to);
      if (ends.container != container_index) continue;
      if (picture_.nodes[ends.from].is_aside || picture_.nodes[ends.to].is_aside) continue;
      const uint32_t from = box_of_node[ends.from], to = box_of_node[ends.to];
      const auto [at, is_new] = container.link_of.emplace(
          uint64_t{from} << 32 | to, static_cast<uint32_t>(container.links.size()));
      if (is_new) container.links.push_back({from, to, 1, {}});
    }
    const Drawing drawing = lay_out(container.boxes, container.links);
    float width = drawing.width, height = drawing.height;
    for (size_t i = 0; i < container.children.size(); ++i) {
      if (container.box_of[i] == kNone) continue;
      picture_.nodes[container.children[i]].x = container.boxes[container.box_of[i]].x;
      picture_.nodes[container.children[i]].y = container.boxes[container.box_of[i]].y;
    }
    stack_aside(container, width, height);
    if (container.node == kNone) {
      picture_.width = width;
      picture_.height = height;
    } else {
      const size_t letters = item(picture_.nodes[container.node].item).label.size();
      const float title = 7.0f * static_cast<float>(std::min<size_t>(letters, 34)) + 44;
      picture_.nodes[container.node].width = std::max({width + 2 * kPadding, 120.0f, title});
      container.inset = (picture_.nodes[container.node].width - width) / 2;
      picture_.nodes[container.node].height = height + kHeader + 2 * kPadding;
    }
  }

  // Auxiliary nodes in columns at the right, as high as the picture.
  void stack_aside(Container& container, float& width, float& height) {
    float x = width > 0 ? width + kAsideGap : 0, y = 0, column = 0;
    const float tallest = std::max(height, 240.0f);
    for (const uint32_t child : container.children) {
      PictureNode& node = picture_.nodes[child];
      if (!node.is_aside) continue;
      if (y > 0 && y + node.height > tallest) {
        x += column + 24;
        y = column = 0;
      }
      node.x = x + node.width / 2;
      node.y = y + node.height / 2;
      y += node.height + 12;
      column = std::max(column, node.width);
      width = std::max(width, x + node.width);
      height = std::max(height, y - 12);
    }
  }

  // Relative to absolute: a box comes before its inside, so one pass in order is enough.
  void place() {
    for (size_t i = 0; i < picture_.nodes.size(); ++i) {
      const uint32_t owner = containers_[container_of_[i]].node;
      if (owner == kNone) continue;
      const PictureNode& box = picture_.nodes[owner];
      picture_.nodes[i].x += box.x - box.width / 2 + containers_[container_of_[i]].inset;
      picture_.nodes[i].y += box.y - box.height / 2 + kHeader + kPadding;
    }
  }

  Point origin(const Container& container) const {
    if (container.node == kNone) return {};
    const PictureNode& box = picture_.nodes[container.node];
    return {box.x - box.width / 2 + container.inset, box.y - box.height / 2 + kHeader + kPadding};
  }

  uint32_t box_index(const Container& container, uint32_t node) const {
    const auto at = std::lower_bound(container.children.begin(), container.children.end(), node);
    return container.box_of[static_cast<size_t>(at - container.children.begin())];
  }

  // Edges between drawn boxes get their bends; edges to auxiliary nodes become stubs.
  void route() {
    std::vector<PictureEdge> kept;
    for (PictureEdge& edge : picture_.edges) {
      const Ends ends = common(edge.from, edge.to);
      PictureNode &from = picture_.nodes[edge.from], &to = picture_.nodes[edge.to];
      if (picture_.nodes[ends.from].is_aside || picture_.nodes[ends.to].is_aside || from.is_aside ||
          to.is_aside) {
        add_stub(from.out, from.more_out, {to.item, edge.kind});
        add_stub(to.in, to.more_in, {from.item, edge.kind});
        continue;
      }
      const Container& container = containers_[ends.container];
      const uint32_t a = box_index(container, ends.from), b = box_index(container, ends.to);
      const Link& link = container.links[container.link_of.at(uint64_t{a} << 32 | b)];
      const Point zero = origin(container);
      const bool downward = link.points.front().y <= link.points.back().y;
      const float sign = downward ? 1 : -1;
      if (ends.from != edge.from) edge.points.push_back({from.x, from.y + sign * from.height / 2});
      for (const Point& p : link.points) edge.points.push_back({p.x + zero.x, p.y + zero.y});
      const Point &before = link.points[(link.points.size() - 1) / 2],
                  &after = link.points[link.points.size() / 2];
      edge.label_at = {(before.x + after.x) / 2 + zero.x, (before.y + after.y) / 2 + zero.y};
      if (ends.to != edge.to) edge.points.push_back({to.x, to.y - sign * to.height / 2});
      kept.push_back(std::move(edge));
    }
    picture_.edges = std::move(kept);
  }

  const Model& model_;
  const Hierarchy& hierarchy_;
  const LevelQuery& query_;
  ItemSet open_, aside_, inside_;
  Picture picture_;
  std::vector<bool> folded_;            // by node
  std::vector<uint32_t> seen_;          // item -> PictureNode
  std::vector<uint32_t> container_of_;  // by PictureNode
  std::vector<Container> containers_;   // outer before inner
};

}  // namespace

Picture draw_level(const Model& model, const Hierarchy& hierarchy, const LevelQuery& query) {
  return Painter(model, hierarchy, query).paint();
}

std::vector<uint32_t> traced_inputs(const Model& model, uint32_t node) {
  std::vector<std::vector<uint32_t>> inputs(model.nodes.size());
  for (const Edge& edge : model.edges) inputs[edge.to].push_back(edge.from);
  std::vector<bool> seen(model.nodes.size());
  std::vector<uint32_t> queue{node};
  seen[node] = true;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const uint32_t from : inputs[queue[i]]) {
      if (!seen[from]) queue.push_back(from);
      seen[from] = true;
    }
  }
  queue.erase(queue.begin());
  std::sort(queue.begin(), queue.end());
  return queue;
}

}  // namespace sonde::graph
