#include "embed/affinities.h"

#include <algorithm>
#include <cmath>

namespace sonde::embed {
namespace {

// Finds beta so that the entropy of exp(-beta * distance) over a row equals `target`, then writes
// the normalised weights. Distances are shifted by the smallest, which changes nothing but avoids
// underflow.
void row_kernel(const float* distances, size_t k, double target, float* weights) {
  constexpr int kMaxBisections = 50;
  constexpr double kTolerance = 1e-4;
  double beta = 1, low = 0, high = INFINITY;
  const double nearest = distances[0];
  std::vector<double> p(k);
  for (int round = 0; round < kMaxBisections; ++round) {
    double sum = 0, weighted = 0;
    for (size_t j = 0; j < k; ++j) {
      p[j] = std::exp(-beta * (distances[j] - nearest));
      sum += p[j];
      weighted += p[j] * (distances[j] - nearest);
    }
    const double entropy = std::log(sum) + beta * weighted / sum;
    for (double& value : p) value /= sum;
    if (std::abs(entropy - target) < kTolerance) break;
    (entropy > target ? low : high) = beta;
    beta = std::isinf(high) ? beta * 2 : (low + high) / 2;
  }
  for (size_t j = 0; j < k; ++j) weights[j] = static_cast<float>(std::max(p[j], 1e-9));
}

}  // namespace

SparseRows symmetric(const Neighbours& neighbours, const std::vector<float>& directed, size_t rows,
                     float (*combine)(float, float)) {
  const size_t k = neighbours.k;
  // Both directions of every pair land in the row's list; equal columns are merged after sorting.
  struct Entry {
    uint32_t column;
    float forward, backward;
  };
  std::vector<uint32_t> sizes(rows + 1);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < k; ++j) {
      ++sizes[i + 1];
      ++sizes[neighbours.ids[i * k + j] + 1];
    }
  }
  for (size_t i = 0; i < rows; ++i) sizes[i + 1] += sizes[i];
  std::vector<Entry> entries(sizes[rows]);
  std::vector<uint32_t> fill(sizes.begin(), sizes.end() - 1);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const uint32_t other = neighbours.ids[i * k + j];
      entries[fill[i]++] = {other, directed[i * k + j], 0};
      entries[fill[other]++] = {static_cast<uint32_t>(i), 0, directed[i * k + j]};
    }
  }
  SparseRows out;
  out.starts.push_back(0);
  for (size_t i = 0; i < rows; ++i) {
    const auto begin = entries.begin() + sizes[i], end = entries.begin() + sizes[i + 1];
    std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.column < b.column; });
    for (auto at = begin; at != end;) {
      float forward = 0, backward = 0;
      const uint32_t column = at->column;
      for (; at != end && at->column == column; ++at) {
        forward += at->forward;
        backward += at->backward;
      }
      out.columns.push_back(column);
      out.weights.push_back(combine(forward, backward));
    }
    out.starts.push_back(static_cast<uint32_t>(out.columns.size()));
  }
  return out;
}

SparseRows tsne_affinities(const Neighbours& neighbours, size_t rows, double perplexity,
                           Metric metric) {
  const size_t k = neighbours.k;
  std::vector<float> directed(rows * k);
  const double target = std::log(std::min(perplexity, static_cast<double>(std::max<size_t>(k, 1))));
  std::vector<float> distances(k);
  for (size_t i = 0; i < rows && k > 0; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const float d = neighbours.distances[i * k + j];
      distances[j] = metric == Metric::kEuclidean
                         ? d * d
                         : d;  // cosine distance is half a squared one already
    }
    row_kernel(distances.data(), k, target, &directed[i * k]);
  }
  SparseRows p = symmetric(neighbours, directed, rows, [](float a, float b) { return a + b; });
  double sum = 0;
  for (const float w : p.weights) sum += w;
  for (float& w : p.weights) w = sum > 0 ? static_cast<float>(w / sum) : 0;
  return p;
}

}  // namespace sonde::embed
