// Sparse symmetric affinities between rows, the attractive half of t-SNE. Stored as rows of
// (column, weight), like a compressed sparse matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "embed/neighbours.h"

namespace sonde::embed {

struct SparseRows {
  std::vector<uint32_t> starts;  // rows + 1
  std::vector<uint32_t> columns;
  std::vector<float> weights;

  size_t rows() const { return starts.empty() ? 0 : starts.size() - 1; }
};

// One weight a directed neighbour pair, count * k like Neighbours::ids, made symmetric by
// combine(w_ij, w_ji), where a missing direction counts as zero.
SparseRows symmetric(const Neighbours& neighbours, const std::vector<float>& directed, size_t rows,
                     float (*combine)(float, float));

// p_ij of t-SNE: for each row a Gaussian kernel whose width gives the perplexity; symmetric, sums
// to one.
SparseRows tsne_affinities(const Neighbours& neighbours, size_t rows, double perplexity,
                           Metric metric);

}  // namespace sonde::embed
