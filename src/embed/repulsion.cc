#include "embed/repulsion.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"

namespace sonde::embed {
namespace {

constexpr uint32_t kLeaf = 6;  // cells of so few points are not split further

// Spreads the low bits of v so that D-1 zeros follow each; 16 bits in two, 10 in three dimensions.
template <int D>
uint32_t spread(uint32_t v) {
  if constexpr (D == 2) {
    v = (v | (v << 8)) & 0x00ff00ff;
    v = (v | (v << 4)) & 0x0f0f0f0f;
    v = (v | (v << 2)) & 0x33333333;
    v = (v | (v << 1)) & 0x55555555;
  } else {
    v = (v | (v << 16)) & 0x030000ff;
    v = (v | (v << 8)) & 0x0300f00f;
    v = (v | (v << 4)) & 0x030c30c3;
    v = (v | (v << 2)) & 0x09249249;
  }
  return v;
}

template <int D>
constexpr int kLevels = D == 2 ? 16 : 10;

// Sixteen neighbours in curve order walk the tree together: they open nearly the same cells, and
// their distances to a cell are computed in vectors.
constexpr size_t kLanes = 16;

template <int D>
struct Walk {
  const RepulsionCell<D>* cells;
  uint32_t count;
  const float* sorted;
  uint32_t first, last;  // the group
  float theta_squared;
};

// W lanes a register, so 16 / W registers a coordinate of the group.
template <int W, int D>
SONDE_INLINE double walk_body(const Walk<D>& walk, float* out) {
  using Lanes = simd::Lanes<W>;
  constexpr size_t kParts = kLanes / W;
  Lanes y[D][kParts], force[D][kParts] = {}, sum[kParts] = {};
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t i = std::min(walk.first + static_cast<uint32_t>(lane), walk.last - 1);
    for (size_t k = 0; k < D; ++k) y[k][lane / W][lane % W] = walk.sorted[i * D + k];
  }
  Lanes difference[D][kParts], squared[kParts];
  const auto measure = [&](const float* centre) __attribute__((always_inline)) {
    for (size_t part = 0; part < kParts; ++part) {
      squared[part] = Lanes{};
      for (size_t k = 0; k < D; ++k) {
        difference[k][part] = y[k][part] - centre[k];
        squared[part] += difference[k][part] * difference[k][part];
      }
    }
  };
  const auto push = [&](float weight) __attribute__((always_inline)) {
    for (size_t part = 0; part < kParts; ++part) {
      const Lanes q = 1 / (1 + squared[part]), strength = weight * q;
      sum[part] += strength;
      for (size_t k = 0; k < D; ++k) force[k][part] += strength * q * difference[k][part];
    }
  };
  for (uint32_t i = 0; i < walk.count;) {
    const RepulsionCell<D>& cell = walk.cells[i];
    measure(cell.centre);
    const float limit = cell.width_squared / walk.theta_squared;
    const bool overlaps = walk.first < cell.last && cell.first < walk.last;
    bool far = !overlaps;
    if (far) {
      auto near_lanes = squared[0] <= limit;
      for (size_t part = 1; part < kParts; ++part) near_lanes |= squared[part] <= limit;
      int any = 0;
      for (size_t lane = 0; lane < W; ++lane) any |= near_lanes[lane];
      far = any == 0;
    }
    if (far) {
      push(static_cast<float>(cell.last - cell.first));
      i = cell.next;
      continue;
    }
    if (cell.next == i + 1) {  // a leaf: its points one by one
      for (uint32_t j = cell.first; j < cell.last; ++j) {
        measure(walk.sorted + size_t{j} * D);
        push(1);
      }
    }
    ++i;
  }
  double total = 0;
  for (uint32_t lane = 0; lane < walk.last - walk.first; ++lane) {
    total +=
        double{sum[lane / W][lane % W]} - 1;  // every point met itself once: no force, but q = 1
    for (size_t k = 0; k < D; ++k) out[k * kLanes + lane] = force[k][lane / W][lane % W];
  }
  return total;
}

template <int W>
SONDE_INLINE double walk_2(const Walk<2>& walk, float* out) {
  return walk_body<W>(walk, out);
}
template <int W>
SONDE_INLINE double walk_3(const Walk<3>& walk, float* out) {
  return walk_body<W>(walk, out);
}
SONDE_KERNEL(double, walk_2, (const Walk<2>& walk, float* out), (walk, out))
SONDE_KERNEL(double, walk_3, (const Walk<3>& walk, float* out), (walk, out))

double walk_tree(const Walk<2>& walk, float* out) { return walk_2_widest(walk, out); }
double walk_tree(const Walk<3>& walk, float* out) { return walk_3_widest(walk, out); }

}  // namespace

template <int D>
void Repulsion<D>::sort_points(std::span<const float> positions) {
  const size_t n = positions.size() / D;
  float low[D], high[D];
  std::fill(low, low + D, INFINITY);
  std::fill(high, high + D, -INFINITY);
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < D; ++k) {
      low[k] = std::min(low[k], positions[i * D + static_cast<size_t>(k)]);
      high[k] = std::max(high[k], positions[i * D + static_cast<size_t>(k)]);
    }
  }
  float width = 1e-12f;
  for (int k = 0; k < D; ++k) width = std::max(width, high[k] - low[k]);
  constexpr auto kGrid = static_cast<float>(1 << kLevels<D>);
  const float scale = kGrid / width * 0.999999f;
  codes_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t code = 0;
    for (int k = 0; k < D; ++k) {
      const float cell = (positions[i * D + static_cast<size_t>(k)] - low[k]) * scale;
      code |= spread<D>(static_cast<uint32_t>(std::clamp(cell, 0.0f, kGrid - 1))) << k;
    }
    codes_[i] = (uint64_t{code} << 32) | i;
  }
  std::sort(codes_.begin(), codes_.end());
  sorted_.resize(n * D);
  for (size_t i = 0; i < n; ++i)
    std::copy_n(&positions[(codes_[i] & 0xffffffff) * D], D, &sorted_[i * D]);
  cells_.clear();
  if (n > 0) build(0, static_cast<uint32_t>(n), (kLevels<D> - 1) * D, width);
}

template <int D>
void Repulsion<D>::build(uint32_t first, uint32_t last, int shift, float width) {
  const size_t at = cells_.size();
  RepulsionCell<D>& cell = cells_.emplace_back();
  cell.first = first;
  cell.last = last;
  cell.width_squared = width * width;
  double sum[D] = {};
  for (uint32_t i = first; i < last; ++i) {
    for (int k = 0; k < D; ++k) sum[k] += sorted_[i * D + static_cast<size_t>(k)];
  }
  for (int k = 0; k < D; ++k) cell.centre[k] = static_cast<float>(sum[k] / (last - first));
  if (last - first > kLeaf && shift >= 0) {
    for (uint32_t begin = first; begin < last;) {
      const uint64_t child = codes_[begin] >> (32 + shift);
      const auto end = static_cast<uint32_t>(
          std::partition_point(codes_.begin() + begin, codes_.begin() + last,
                               [&](uint64_t c) { return c >> (32 + shift) <= child; }) -
          codes_.begin());
      build(begin, end, shift - D, width / 2);
      begin = end;
    }
  }
  cells_[at].next = static_cast<uint32_t>(cells_.size());
}

template <int D>
double Repulsion<D>::compute(std::span<const float> positions, float theta, std::span<float> forces,
                             ThreadPool& pool) {
  sort_points(positions);
  const size_t n = positions.size() / D;
  constexpr size_t kGroupsPerJob = 64;
  const size_t groups = (n + kLanes - 1) / kLanes;
  const size_t jobs = (groups + kGroupsPerJob - 1) / kGroupsPerJob;
  std::vector<double> sums(
      jobs);  // one a job, added in order: the same bits whatever the threads do
  pool.for_each(jobs, [&](size_t job) {
    float out[D * kLanes];
    for (size_t group = job * kGroupsPerJob; group < std::min(groups, (job + 1) * kGroupsPerJob);
         ++group) {
      const auto first = static_cast<uint32_t>(group * kLanes),
                 last = static_cast<uint32_t>(std::min(n, (group + 1) * kLanes));
      const Walk<D> walk{cells_.data(),  static_cast<uint32_t>(cells_.size()),
                         sorted_.data(), first,
                         last,           theta * theta};
      sums[job] += walk_tree(walk, out);
      for (uint32_t i = first; i < last; ++i) {
        for (size_t k = 0; k < D; ++k)
          forces[(codes_[i] & 0xffffffff) * D + k] = out[k * kLanes + i - first];
      }
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

template class Repulsion<2>;
template class Repulsion<3>;

}  // namespace sonde::embed
