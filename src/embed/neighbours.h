// The k nearest rows of every row, or of one. Exact by tiles of dot products for sets that allow
// it; above that an HNSW graph, whose recall is measured on a sample of rows and reported, never
// assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "embed/points.h"

namespace sonde::embed {

enum class Metric : uint8_t { kCosine, kEuclidean };  // 1 - cos, and the plain distance

struct Neighbours {
  size_t k = 0;
  std::vector<uint32_t> ids;     // count * k, nearest first; the row itself is left out
  std::vector<float> distances;  // in the metric asked for
  bool exact = true;
  double recall = 1;  // share of true neighbours found, measured on a sample when not exact
};

struct NeighbourSearch {
  size_t k = 15;
  Metric metric = Metric::kCosine;
  size_t exact_limit = 20000;  // largest number of rows searched exactly
};

// Nothing when the progress callback asked to stop.
std::optional<Neighbours> all_neighbours(const Points& points, const NeighbourSearch& search,
                                         ThreadPool& pool, const Progress& progress = {});

// Rows of somebody else's table.
struct RowsView {
  const float* values = nullptr;
  size_t count = 0, dims = 0;

  const float* row(size_t i) const { return values + i * dims; }
};

// The nearest rows of one row, exact; `among` (all when empty) are the rows to choose from.
Neighbours neighbours_of(const RowsView& rows, size_t row, const NeighbourSearch& search,
                         std::span<const uint32_t> among = {});
Neighbours neighbours_of(const Points& points, size_t row, const NeighbourSearch& search);

}  // namespace sonde::embed
