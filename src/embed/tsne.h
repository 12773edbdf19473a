// t-SNE by Barnes-Hut in two or three dimensions, every point, with the parameters of TensorBoard's
// projector. The caller sees positions after each round and may pause, cancel or change the
// learning rate.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "embed/neighbours.h"
#include "embed/points.h"

namespace sonde::embed {

struct TsneParams {
  int dims = 2;              // 2 or 3
  double perplexity = 30;    // neighbours searched: 3 * perplexity
  double learning_rate = 0;  // 0 = rows / exaggeration, at least 50, which suits any size
  // How much of the picture is summed at a distance; 0 = chosen by size: 0.5 for few points, where
  // the picture is truer for little time, else TensorBoard's 0.8.
  double theta = 0;
  int iterations = 1000;
  uint32_t seed = 1;
  Metric metric = Metric::kCosine;
  // Supervision: rows of one label attract, others repel; empty = off. 0..100.
  std::vector<int> labels = {};
  int ignored_label = -1;
  double supervise = 0;
};

struct Projection {
  int dims = 2;
  std::vector<float> positions;  // rows * dims
  bool neighbours_exact = true;
  double neighbours_recall = 1;
  bool finished =
      false;  // false when stopped by the progress callback; positions are the last ones
  double final_cost = 0;  // t-SNE: Kullback-Leibler divergence, approximated on the sparse pairs
};

// What another thread may change while t-SNE runs.
struct TsneControls {
  std::atomic<double> learning_rate = 0;  // as in TsneParams
  std::atomic<int> perturb = 0;           // rounds in which every point is jittered
};

// `start` (rows * dims, may be empty) continues from given positions. `controls` may be null.
Projection tsne(const Points& points, const TsneParams& params, ThreadPool& pool,
                const Progress& progress = {}, std::span<const float> start = {},
                TsneControls* controls = nullptr);

}  // namespace sonde::embed
