// The classic pipeline: break cycles, assign layers, split long links by bends, order layers by
// barycentres, give x by alternating passes that pull every box to its neighbours' median.
#include "graph/layered.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::graph {
namespace {

struct Slot {  // a box or a bend of a long link
  int32_t box = -1;
  int layer = 0;
  float width = 0, x = 0;
  std::vector<uint32_t> up, down;
};

class Sugiyama {
 public:
  Sugiyama(std::vector<Box>& boxes, std::vector<Link>& links, const Spacing& spacing)
      : boxes_(boxes), links_(links), spacing_(spacing) {}

  Drawing run() {
    break_cycles();
    assign_layers();
    make_slots();
    order_layers();
    assign_x();
    return write();
  }

 private:
  // Links that close a cycle in a depth-first walk are turned round for the layout.
  void break_cycles() {
    const size_t n = boxes_.size();
    std::vector<std::vector<uint32_t>> out(n);
    std::vector<uint32_t> in_degree(n);
    for (uint32_t i = 0; i < links_.size(); ++i) {
      out[links_[i].from].push_back(i);
      ++in_degree[links_[i].to];
    }
    turned_.assign(links_.size(), false);
    std::vector<uint8_t> state(n);  // 0 new, 1 on the path, 2 done
    std::vector<std::pair<uint32_t, size_t>> stack;
    const auto visit = [&](uint32_t root) {
      if (state[root] != 0) return;
      stack.emplace_back(root, 0);
      state[root] = 1;
      while (!stack.empty()) {
        auto& [box, next] = stack.back();
        if (next == out[box].size()) {
          state[box] = 2;
          stack.pop_back();
          continue;
        }
        const uint32_t link = out[box][next++];
        const uint32_t to = links_[link].to;
        if (state[to] == 1) turned_[link] = true;
        if (state[to] == 0) {
          state[to] = 1;
          stack.emplace_back(to, 0);
        }
      }
    };
    for (uint32_t i = 0; i < n; ++i) {
      if (in_degree[i] == 0) visit(i);
    }
    for (uint32_t i = 0; i < n; ++i) visit(i);
  }

  uint32_t tail(size_t link) const { return turned_[link] ? links_[link].to : links_[link].from; }
  uint32_t head(size_t link) const { return turned_[link] ? links_[link].from : links_[link].to; }

  // Longest path from the sources; then sources move down to just above their first consumer.
  void assign_layers() {
    const size_t n = boxes_.size();
    std::vector<std::vector<uint32_t>> next(n);
    std::vector<uint32_t> waiting(n);
    for (size_t i = 0; i < links_.size(); ++i) {
      next[tail(i)].push_back(head(i));
      ++waiting[head(i)];
    }
    layer_.assign(n, 0);
    std::vector<uint32_t> ready;
    std::vector<bool> is_source(n);
    for (uint32_t i = 0; i < n; ++i) {
      if (waiting[i] == 0) {
        ready.push_back(i);
        is_source[i] = true;
      }
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      for (const uint32_t to : next[ready[i]]) {
        layer_[to] = std::max(layer_[to], layer_[ready[i]] + 1);
        if (--waiting[to] == 0) ready.push_back(to);
      }
    }
    for (uint32_t i = 0; i < n; ++i) {
      if (!is_source[i] || next[i].empty()) continue;
      int nearest = layer_[next[i][0]];
      for (const uint32_t to : next[i]) nearest = std::min(nearest, layer_[to]);
      layer_[i] = nearest - 1;
    }
  }

  void make_slots() {
    for (size_t i = 0; i < boxes_.size(); ++i)
      slots_.push_back({static_cast<int32_t>(i), layer_[i], boxes_[i].width, 0, {}, {}});
    chains_.resize(links_.size());
    // Bends cost memory: with very many long links only their ends are laid out.
    uint64_t bends = 0;
    for (size_t i = 0; i < links_.size(); ++i)
      bends += static_cast<uint64_t>(std::max(0, layer_[head(i)] - layer_[tail(i)] - 1));
    const bool bend = bends <= 20000;
    for (size_t i = 0; i < links_.size(); ++i) {
      uint32_t above = tail(i);
      chains_[i].push_back(above);
      for (int layer = layer_[above] + 1; bend && layer < layer_[head(i)]; ++layer) {
        const auto slot = static_cast<uint32_t>(slots_.size());
        slots_.push_back({-1, layer, spacing_.between_bends, 0, {}, {}});
        connect(above, slot);
        above = slot;
        chains_[i].push_back(slot);
      }
      connect(above, head(i));
      chains_[i].push_back(head(i));
    }
    int deepest = 0;
    for (const Slot& slot : slots_) deepest = std::max(deepest, slot.layer);
    layers_.resize(static_cast<size_t>(deepest) + 1);
    for (uint32_t i = 0; i < slots_.size(); ++i)
      layers_[static_cast<size_t>(slots_[i].layer)].push_back(i);
  }

  void connect(uint32_t above, uint32_t below) {
    slots_[above].down.push_back(below);
    slots_[below].up.push_back(above);
  }

  void order_layers() {
    position_.resize(slots_.size());
    for (const auto& layer : layers_) {
      for (size_t i = 0; i < layer.size(); ++i) position_[layer[i]] = static_cast<float>(i);
    }
    const int rounds = slots_.size() > 5000 ? 4 : 12;
    std::vector<std::pair<float, uint32_t>> keys;
    for (int round = 0; round < rounds; ++round) {
      const bool downward = round % 2 == 0;
      for (size_t step = 0; step < layers_.size(); ++step) {
        auto& layer = layers_[downward ? step : layers_.size() - 1 - step];
        keys.clear();
        for (const uint32_t slot : layer) {
          const auto& neighbours = downward ? slots_[slot].up : slots_[slot].down;
          float sum = 0;
          for (const uint32_t other : neighbours) sum += position_[other];
          keys.emplace_back(
              neighbours.empty() ? position_[slot] : sum / static_cast<float>(neighbours.size()),
              slot);
        }
        std::stable_sort(keys.begin(), keys.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < layer.size(); ++i) {
          layer[i] = keys[i].second;
          position_[layer[i]] = static_cast<float>(i);
        }
      }
    }
  }

  float gap(uint32_t left, uint32_t right) const {
    const bool bends = slots_[left].box < 0 || slots_[right].box < 0;
    return (slots_[left].width + slots_[right].width) / 2 +
           (bends ? spacing_.between_bends : spacing_.between_boxes);
  }

  // Where a layer's slots want to be, moved apart as little as possible (pool adjacent violators).
  void place(const std::vector<uint32_t>& layer, const std::vector<float>& wanted) {
    struct Block {
      float sum;  // of (wanted - offset)
      size_t count, first;
    };
    std::vector<Block> blocks;
    std::vector<float> offset(layer.size());
    for (size_t i = 0; i < layer.size(); ++i) {
      offset[i] = i == 0 ? 0 : offset[i - 1] + gap(layer[i - 1], layer[i]);
      blocks.push_back({wanted[i] - offset[i], 1, i});
      while (blocks.size() > 1) {
        const Block& last = blocks.back();
        const Block& before = blocks[blocks.size() - 2];
        if (before.sum / static_cast<float>(before.count) <=
            last.sum / static_cast<float>(last.count))
          break;
        const Block merged{before.sum + last.sum, before.count + last.count, before.first};
        blocks.pop_back();
        blocks.back() = merged;
      }
    }
    for (const Block& block : blocks) {
      const float base = block.sum / static_cast<float>(block.count);
      for (size_t i = block.first; i < block.first + block.count; ++i)
        slots_[layer[i]].x = base + offset[i];
    }
  }

  void assign_x() {
    for (const auto& layer : layers_) {  // start: side by side, centred
      float x = 0;
      for (size_t i = 0; i < layer.size(); ++i) {
        if (i > 0) x += gap(layer[i - 1], layer[i]);
        slots_[layer[i]].x = x;
      }
      for (const uint32_t slot : layer) slots_[slot].x -= x / 2;
    }
    const int rounds = slots_.size() > 5000 ? 4 : 16;
    std::vector<float> wanted, around;
    for (int round = 0; round < rounds; ++round) {
      const bool downward = round % 2 == 0;
      for (size_t step = 0; step < layers_.size(); ++step) {
        const auto& layer = layers_[downward ? step : layers_.size() - 1 - step];
        wanted.clear();
        for (const uint32_t slot : layer) {
          const auto& neighbours = downward ? slots_[slot].up : slots_[slot].down;
          around.clear();
          for (const uint32_t other : neighbours) around.push_back(slots_[other].x);
          std::sort(around.begin(), around.end());
          const size_t n = around.size();
          wanted.push_back(n == 0 ? slots_[slot].x : (around[(n - 1) / 2] + around[n / 2]) / 2);
        }
        place(layer, wanted);
      }
    }
  }

  Drawing write() {
    float left = 0, right = 0;
    bool any = false;
    for (const Slot& slot : slots_) {
      left = any ? std::min(left, slot.x - slot.width / 2) : slot.x - slot.width / 2;
      right = any ? std::max(right, slot.x + slot.width / 2) : slot.x + slot.width / 2;
      any = true;
    }
    std::vector<float> top(layers_.size()), height(layers_.size());
    float y = 0;
    for (size_t i = 0; i < layers_.size(); ++i) {
      for (const uint32_t slot : layers_[i]) {
        if (slots_[slot].box >= 0)
          height[i] = std::max(height[i], boxes_[static_cast<size_t>(slots_[slot].box)].height);
      }
      top[i] = y;
      y += height[i] + spacing_.between_layers;
    }
    const auto middle = [&](const Slot& slot) {
      return top[static_cast<size_t>(slot.layer)] + height[static_cast<size_t>(slot.layer)] / 2;
    };
    for (const Slot& slot : slots_) {
      if (slot.box < 0) continue;
      boxes_[static_cast<size_t>(slot.box)].x = slot.x - left;
      boxes_[static_cast<size_t>(slot.box)].y = middle(slot);
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      auto& points = links_[i].points;
      points.clear();
      const Box &first = boxes_[tail(i)], &last = boxes_[head(i)];
      points.push_back({first.x, first.y + first.height / 2});
      for (size_t k = 1; k + 1 < chains_[i].size(); ++k) {
        const Slot& slot = slots_[chains_[i][k]];
        points.push_back({slot.x - left, middle(slot)});
      }
      points.push_back({last.x, last.y - last.height / 2});
      if (turned_[i]) std::reverse(points.begin(), points.end());
    }
    return {right - left, std::max(0.0f, y - spacing_.between_layers)};
  }

  std::vector<Box>& boxes_;
  std::vector<Link>& links_;
  const Spacing& spacing_;
  std::vector<bool> turned_;
  std::vector<int> layer_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint32_t>> layers_;
  std::vector<std::vector<uint32_t>> chains_;  // slots along a link, top down
  std::vector<float> position_;
};

}  // namespace

Drawing lay_out(std::vector<Box>& boxes, std::vector<Link>& links, const Spacing& spacing) {
  if (boxes.empty()) return {};
  return Sugiyama(boxes, links, spacing).run();
}

}  // namespace sonde::graph
