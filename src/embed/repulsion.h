// The repulsive half of t-SNE's gradient by Barnes-Hut: points far away act through the centre of
// their cell. The tree is laid out in depth-first order with the index of the next sibling in every
// cell, so a walk is a loop over an array; it is rebuilt each round from points sorted along a
// space-filling curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"

namespace sonde::embed {

template <int D>
struct RepulsionCell {
  float centre[D];
  float width_squared;
  uint32_t first, last;  // points in sorted order
  uint32_t next;         // the cell after this whole subtree
};

template <int D>
class Repulsion {
 public:
  // Adds up, for every point i, sum_j q²(y_i - y_j) into `forces` (count * D) and returns sum_ij q,
  // with q = 1 / (1 + |y_i - y_j|²). `theta`: a cell is far when its width is below theta times its
  // distance.
  double compute(std::span<const float> positions, float theta, std::span<float> forces,
                 ThreadPool& pool);

 private:
  void sort_points(std::span<const float> positions);
  void build(uint32_t first, uint32_t last, int shift, float width);

  std::vector<uint64_t> codes_;  // curve position << 32 | point, sorted
  std::vector<float> sorted_;    // positions in curve order
  std::vector<RepulsionCell<D>> cells_;
};

extern template class Repulsion<2>;
extern template class Repulsion<3>;

}  // namespace sonde::embed
