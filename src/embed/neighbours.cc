// Distances are ranked by squared euclidean distance of (for cosine: normalised) rows; the
// conversion to the metric asked for happens once, on the survivors.
#include "embed/neighbours.h"

// The library reads the neighbour behind the last one to prefetch it, up to three bytes past its
// own block; the sanitizer is told not to look there.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("address", "pointer-overflow"))), \
                             apply_to = function)
#endif
#include <hnswlib/hnswlib.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

#include "base/vector_math.h"

namespace sonde::embed {
namespace {

// Unit rows make cosine ranking a euclidean one: |a-b|² = 2 - 2 cos.
Points unit_rows(const Points& points) {
  Points unit = points;
  for (size_t i = 0; i < unit.count; ++i) {
    float* row = unit.row(i);
    const float norm = std::sqrt(dot(row, row, unit.dims));
    for (size_t k = 0; k < unit.dims && norm > 0; ++k) row[k] /= norm;
  }
  return unit;
}

// Keeps the k smallest (distance, id) seen; ties go to the smaller id so that results never depend
// on order.
class Best {
 public:
  explicit Best(size_t k) : k_(k) { heap_.reserve(k + 1); }
  float worst() const { return heap_.size() < k_ ? INFINITY : heap_.front().first; }
  void offer(float distance, uint32_t id) {
    if (heap_.size() == k_ && std::pair(distance, id) >= heap_.front()) return;
    heap_.emplace_back(distance, id);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= k_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  void write(Neighbours& out, size_t row, Metric metric) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (size_t j = 0; j < heap_.size(); ++j) {
      const float squared = std::max(heap_[j].first, 0.0f);
      out.ids[row * out.k + j] = heap_[j].second;
      out.distances[row * out.k + j] = metric == Metric::kCosine ? squared / 2 : std::sqrt(squared);
    }
    heap_.clear();
  }

 private:
  size_t k_;
  std::vector<std::pair<float, uint32_t>> heap_;
};

Neighbours empty_result(size_t rows, size_t count, size_t k) {
  Neighbours out;
  out.k = count == 0 ? 0 : std::min(k, count - 1);
  out.ids.resize(rows * out.k);
  out.distances.resize(rows * out.k);
  return out;
}

constexpr size_t kQueryBlock = 128,
                 kTargetBlock = 128;  // rows; a block of 200 dimensions stays in the L2 cache

// Four query rows against four targets: the products of one tile, offered to the queries' best.
void offer_tile(const Points& points, const std::vector<float>& norms, size_t query, size_t target,
                Best* best) {
  const size_t n = points.count;
  const float *queries[4], *targets[4];
  for (size_t i = 0; i < 4; ++i) {
    queries[i] = points.row(std::min(query + i, n - 1));
    targets[i] = points.row(std::min(target + i, n - 1));
  }
  float products[16];
  dot_4x4(queries, targets, points.dims, products);
  for (size_t i = 0; i < 4 && query + i < n; ++i) {
    for (size_t j = 0; j < 4 && target + j < n; ++j) {
      if (target + j == query + i) continue;
      const float squared = norms[query + i] + norms[target + j] - 2 * products[i * 4 + j];
      if (squared <= best[i].worst()) best[i].offer(squared, static_cast<uint32_t>(target + j));
    }
  }
}

bool search_exact(const Points& rows, Metric metric, Neighbours& out, ThreadPool& pool,
                  const Progress& progress) {
  const size_t n = rows.count;
  std::vector<float> norms(n);
  for (size_t i = 0; i < n; ++i) norms[i] = dot(rows.row(i), rows.row(i), rows.dims);
  const size_t jobs = (n + kQueryBlock - 1) / kQueryBlock;
  std::atomic<int> done = 0;
  std::atomic<bool> stopped = false;
  pool.for_each(jobs, [&](size_t job) {
    const size_t first = job * kQueryBlock, last = std::min(n, first + kQueryBlock);
    std::vector<Best> best(kQueryBlock, Best(out.k));
    for (size_t block = 0; block < n && !stopped; block += kTargetBlock) {
      for (size_t query = first; query < last; query += 4) {
        for (size_t target = block; target < std::min(n, block + kTargetBlock); target += 4) {
          offer_tile(rows, norms, query, target, &best[query - first]);
        }
      }
    }
    for (size_t i = first; i < last; ++i) best[i - first].write(out, i, metric);
    if (!progress("neighbours", ++done, static_cast<int>(jobs))) stopped = true;
  });
  return !stopped;
}

// hnswlib's own distance functions are chosen by compiler flags; ours are chosen at run time.
struct RowSpace final : hnswlib::SpaceInterface<float> {
  explicit RowSpace(size_t n) : dims(n) {}
  size_t get_data_size() override { return dims * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override {
    return [](const void* a, const void* b, const void* n) {
      return squared_distance(static_cast<const float*>(a), static_cast<const float*>(b),
                              *static_cast<const size_t*>(n));
    };
  }
  void* get_dist_func_param() override { return &dims; }
  size_t dims;
};

bool search_graph(const Points& rows, Metric metric, Neighbours& out, ThreadPool& pool,
                  const Progress& progress) {
  constexpr size_t kLinks = 16, kBuildWidth = 120, kBlock = 256;
  RowSpace space(rows.dims);
  hnswlib::HierarchicalNSW<float> graph(&space, rows.count, kLinks, kBuildWidth);
  graph.addPoint(rows.row(0), 0);
  const size_t blocks = (rows.count + kBlock - 1) / kBlock;
  std::atomic<int> done = 0;
  std::atomic<bool> stopped = false;
  const auto each_row = [&](auto&& visit) {
    pool.for_each(blocks, [&](size_t block) {
      const size_t last = std::min(rows.count, (block + 1) * kBlock);
      for (size_t i = block * kBlock; i < last && !stopped; ++i) visit(i);
      if (!progress("neighbours", ++done, static_cast<int>(2 * blocks))) stopped = true;
    });
  };
  each_row([&](size_t i) {
    if (i > 0) graph.addPoint(rows.row(i), i);
  });
  if (stopped) return false;
  graph.setEf(std::max<size_t>(out.k + 50, 150));
  each_row([&](size_t i) {
    Best best(out.k);
    for (auto found = graph.searchKnn(rows.row(i), out.k + 1); !found.empty(); found.pop()) {
      if (found.top().second != i)
        best.offer(found.top().first, static_cast<uint32_t>(found.top().second));
    }
    best.write(out, i, metric);
  });
  return !stopped;
}

double measured_recall(const Points& rows, const Neighbours& found) {
  constexpr size_t kSample = 100;
  std::mt19937 random(1);
  std::uniform_int_distribution<size_t> pick(0, rows.count - 1);
  size_t hits = 0;
  for (size_t s = 0; s < kSample; ++s) {
    const size_t row = pick(random);
    const Neighbours truth = neighbours_of(rows, row, {found.k, Metric::kEuclidean, 0});
    const auto begin = found.ids.begin() + static_cast<ptrdiff_t>(row * found.k);
    const auto end = begin + static_cast<ptrdiff_t>(found.k);
    for (const uint32_t id : truth.ids) hits += std::find(begin, end, id) != end;
  }
  return static_cast<double>(hits) / static_cast<double>(kSample * found.k);
}

}  // namespace

std::optional<Neighbours> all_neighbours(const Points& points, const NeighbourSearch& search,
                                         ThreadPool& pool, const Progress& progress) {
  Neighbours out = empty_result(points.count, points.count, search.k);
  if (out.k == 0) return out;
  const Points unit = search.metric == Metric::kCosine ? unit_rows(points) : Points{};
  const Points& rows = search.metric == Metric::kCosine ? unit : points;
  out.exact = points.count <= search.exact_limit;
  const bool finished = out.exact ? search_exact(rows, search.metric, out, pool, progress)
                                  : search_graph(rows, search.metric, out, pool, progress);
  if (!finished) return std::nullopt;
  if (!out.exact) out.recall = measured_recall(rows, out);
  return out;
}

Neighbours neighbours_of(const Points& points, size_t row, const NeighbourSearch& search) {
  return neighbours_of(RowsView{points.values.data(), points.count, points.dims}, row, search);
}

Neighbours neighbours_of(const RowsView& rows, size_t row, const NeighbourSearch& search,
                         std::span<const uint32_t> among) {
  Best best(search.k);
  const float* query = rows.row(row);
  const float query_norm = std::sqrt(dot(query, query, rows.dims));
  const size_t candidates = among.empty() ? rows.count : among.size();
  size_t others = 0;
  for (size_t c = 0; c < candidates && search.k > 0; ++c) {
    const size_t i = among.empty() ? c : among[c];
    if (i == row) continue;
    ++others;
    float squared;
    if (search.metric == Metric::kEuclidean) {
      squared = squared_distance(query, rows.row(i), rows.dims);
    } else {
      const float norm = query_norm * std::sqrt(dot(rows.row(i), rows.row(i), rows.dims));
      squared = 2 - 2 * (norm > 0 ? dot(query, rows.row(i), rows.dims) / norm : 0);
    }
    // Where a value is not finite the row is infinitely far.
    best.offer(std::isnan(squared) ? INFINITY : squared, static_cast<uint32_t>(i));
  }
  Neighbours out = empty_result(1, others + 1, search.k);
  best.write(out, 0, search.metric);
  return out;
}

}  // namespace sonde::embed
