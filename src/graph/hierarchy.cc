#include "graph/hierarchy.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "codec/wire.h"

namespace sonde::graph {
namespace {

constexpr size_t kShortestSeries = 5;  // TensorBoard groups from five members on

class Builder {
 public:
  Builder(const Model& model, Hierarchy& out) : model_(model), out_(out) {}

  void build() {
    scope("");
    for (uint32_t i = 0; i < model_.nodes.size(); ++i) {
      const std::string& name = model_.nodes[i].name;
      const size_t label = label_start(name);
      const uint32_t parent =
          scope(label == 0 ? std::string_view() : std::string_view(name).substr(0, label - 1));
      const uint32_t item = add(name, ItemKind::kOp, parent);
      out_.items[item].node = i;
      out_.items[item].device = model_.nodes[i].device;
      out_.items[item].cluster = model_.nodes[i].cluster;
      out_.item_of_node.push_back(item);
    }
    // Indices only grow, so one pass over the scopes that exist now sees each once.
    const size_t scopes_end = out_.items.size();
    for (uint32_t i = 0; i < scopes_end; ++i) {
      if (out_.items[i].kind == ItemKind::kScope) collapse_series(i);
    }
    summarise();
  }

 private:
  uint32_t add(std::string_view path, ItemKind kind, uint32_t parent) {
    const auto index = static_cast<uint32_t>(out_.items.size());
    Item item;
    item.path = path;
    item.label = path.substr(label_start(path));
    item.kind = kind;
    item.parent = parent;
    out_.items.push_back(std::move(item));
    if (out_.paths.id(path) == out_.path_items.size()) out_.path_items.push_back(index);
    if (parent != kNone) out_.items[parent].children.push_back(index);
    return index;
  }

  // The scope of that path, made with its ancestors when it is new. Not recursive: names may be
  // deep.
  uint32_t scope(std::string_view path) {
    if (const uint32_t known = out_.find(path); known != kNone) return known;
    if (path.empty()) return add("", ItemKind::kScope, kNone);
    uint32_t parent = 0;
    for (size_t at = 0; at != std::string_view::npos;) {
      at = path.find('/', at + 1);
      const std::string_view prefix = path.substr(0, at);
      const uint32_t known = out_.find(prefix);
      parent = known != kNone ? known : add(prefix, ItemKind::kScope, parent);
    }
    return parent;
  }

  void collapse_series(uint32_t scope_index) {
    // (op, prefix) -> (number, item); a name without a number is number 0 of its own prefix.
    std::map<std::pair<uint32_t, std::string>, std::vector<std::pair<uint64_t, uint32_t>>> groups;
    for (const uint32_t child : out_.items[scope_index].children) {
      const Item& item = out_.items[child];
      if (item.kind != ItemKind::kOp || model_.nodes[item.node].role != Role::kOp) continue;
      size_t digits = item.label.size();
      while (digits > 0 && item.label.size() - digits < 15 && item.label[digits - 1] >= '0' &&
             item.label[digits - 1] <= '9')
        --digits;
      std::string prefix = item.label.substr(0, digits);
      uint64_t number = 0;
      for (size_t i = digits; i < item.label.size(); ++i)
        number = number * 10 + static_cast<uint64_t>(item.label[i] - '0');
      if (digits == item.label.size()) prefix += '_';  // "add" starts the series "add_1", "add_2"
      groups[{model_.nodes[item.node].op, prefix}].emplace_back(number, child);
    }
    for (auto& [key, members] : groups) {
      std::sort(members.begin(), members.end());
      for (size_t first = 0; first < members.size();) {
        size_t end = first + 1;
        while (end < members.size() && members[end].first == members[end - 1].first + 1) ++end;
        if (end - first >= kShortestSeries)
          make_series(scope_index, key.second, members, first, end);
        first = end;
      }
    }
  }

  void make_series(uint32_t scope_index, const std::string& prefix,
                   const std::vector<std::pair<uint64_t, uint32_t>>& members, size_t first,
                   size_t end) {
    const std::string& parent_path = out_.items[scope_index].path;
    const std::string path =
        fmt::format("{}{}{}[{}-{}]", parent_path, parent_path.empty() ? "" : "/", prefix,
                    members[first].first, members[end - 1].first);
    auto& siblings = out_.items[scope_index].children;
    std::vector<uint32_t> inside;
    for (size_t i = first; i < end; ++i) inside.push_back(members[i].second);
    std::sort(inside.begin(), inside.end());
    std::erase_if(siblings, [&](uint32_t child) {
      return std::binary_search(inside.begin(), inside.end(), child);
    });
    const uint32_t series = add(path, ItemKind::kSeries, scope_index);
    for (size_t i = first; i < end; ++i) {
      out_.items[members[i].second].parent = series;
      out_.items[series].children.push_back(members[i].second);
    }
  }

  // Children before parents: a child's index may be below its series', so order by depth.
  std::vector<uint32_t> bottom_up() const {
    std::vector<uint32_t> order{0};
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& children = out_.items[order[i]].children;
      order.insert(order.end(), children.begin(), children.end());
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  void summarise() {
    std::vector<uint64_t> hashes(out_.items.size());
    std::map<uint64_t, uint32_t> structures;  // hash -> occurrences, then -> number
    const auto order = bottom_up();
    for (const uint32_t i : order) {
      Item& item = out_.items[i];
      if (item.kind == ItemKind::kOp) {
        item.ops = model_.nodes[item.node].role == Role::kOp;
        hashes[i] = (model_.nodes[item.node].op + 1) * 0x9e3779b97f4a7c15ull;
        continue;
      }
      std::map<uint32_t, uint64_t> devices, clusters;
      std::vector<uint64_t> parts;
      for (const uint32_t child : item.children) {
        item.ops += out_.items[child].ops;
        devices[out_.items[child].device] += out_.items[child].ops;
        clusters[out_.items[child].cluster] += out_.items[child].ops;
        parts.push_back(hashes[child]);
      }
      const auto most = [](const std::map<uint32_t, uint64_t>& counts) {
        uint32_t best = 0;
        uint64_t count = 0;
        for (const auto& [word, n] : counts) {
          if (n > count) best = word, count = n;
        }
        return best;
      };
      item.device = most(devices);
      item.cluster = most(clusters);
      std::sort(parts.begin(), parts.end());
      uint64_t hash = 0x51ed270b27d4eb4full + static_cast<uint64_t>(item.kind);
      for (const uint64_t part : parts) hash = (hash ^ part) * 0x100000001b3ull + (part >> 29);
      hashes[i] = hash;
      if (item.kind == ItemKind::kScope) ++structures[hash];
    }
    uint32_t next = 1;
    for (auto at = order.rbegin(); at != order.rend();
         ++at) {  // shallow first: the colours of the top level are stable
      Item& item = out_.items[*at];
      if (item.kind != ItemKind::kScope || *at == 0) continue;
      const auto found = structures.find(hashes[*at]);
      if (found->second == 1) continue;
      if (!numbers_.contains(found->first)) numbers_[found->first] = next++;
      item.structure = numbers_[found->first];
    }
  }

  const Model& model_;
  Hierarchy& out_;
  std::map<uint64_t, uint32_t> numbers_;
};

struct NodeStats {
  std::string_view name;
  int64_t start_us = 0, length_us = 0;
  uint64_t bytes = 0;
};

NodeStats read_stats(Bytes message) {
  NodeStats stats;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) stats.name = f.text();
    if (f.number == 2) stats.start_us = f.as_int();
    if (f.number == 5) stats.length_us = f.as_int();
    if (f.number != 6) continue;
    wire::Cursor memory(f.bytes);
    for (wire::Field m; memory.next(m);) {
      if (m.number == 2 && m.as_int() > 0) stats.bytes += m.as_uint();
    }
  }
  return stats;
}

void apply(const NodeStats& stats, std::string_view device, Model& model, Hierarchy& hierarchy) {
  const uint32_t node = model.find(stats.name);
  if (node == kNone) return;
  Item& item = hierarchy.items[hierarchy.item_of_node[node]];
  item.bytes = std::max(item.bytes, stats.bytes);
  item.device = model.nodes[node].device = model.words.id(device);
  if (stats.start_us <= 0 || stats.length_us <= 0) return;
  constexpr int64_t kPicosPerMicro = 1'000'000;
  const int64_t start = stats.start_us % (int64_t{1} << 42) * kPicosPerMicro,
                end = start + std::min<int64_t>(stats.length_us, int64_t{1} << 40) * kPicosPerMicro;
  item.start_ps = item.start_ps < 0 ? start : std::min(item.start_ps, start);
  item.end_ps = std::max(item.end_ps, end);
}

}  // namespace

uint32_t Hierarchy::find(std::string_view path) const {
  const uint32_t id = paths.find(path);
  return id == UINT32_MAX ? kNone : path_items[id];
}

Hierarchy build_hierarchy(const Model& model) {
  Hierarchy out;
  Builder(model, out).build();
  return out;
}

Result<uint64_t> add_run_metadata(Bytes run_metadata, Model& model, Hierarchy& hierarchy) {
  uint64_t found = 0;
  wire::Cursor cursor(run_metadata);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    wire::Cursor steps(f.bytes);
    for (wire::Field device; steps.next(device);) {
      if (device.number != 1 || !device.is_bytes()) continue;
      std::string_view device_name;
      std::vector<NodeStats> stats;
      wire::Cursor entries(device.bytes);
      for (wire::Field e; entries.next(e);) {
        if (e.number == 1) device_name = e.text();
        if (e.number == 2 && e.is_bytes()) stats.push_back(read_stats(e.bytes));
      }
      // Streams and copies are pseudo devices: their intervals repeat what the real device says.
      if (device_name.find("/stream:") != std::string_view::npos ||
          device_name.find("memcpy") != std::string_view::npos)
        continue;
      for (const NodeStats& s : stats) apply(s, device_name, model, hierarchy);
      found += stats.size();
    }
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the run metadata is damaged");
  // Groups: bytes are summed, time is the span from the first start to the last end.
  std::vector<uint32_t> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& children = hierarchy.items[order[i]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Item& item = hierarchy.items[*at];
    if (item.parent == kNone) continue;
    Item& parent = hierarchy.items[item.parent];
    parent.bytes += item.bytes;
    if (item.start_ps < 0) continue;
    parent.start_ps =
        parent.start_ps < 0 ? item.start_ps : std::min(parent.start_ps, item.start_ps);
    parent.end_ps = std::max(parent.end_ps, item.end_ps);
  }
  return found;
}

}  // namespace sonde::graph
