// UMAP in two or three dimensions: a fuzzy graph of neighbours laid out by sampled gradient
// descent. Deterministic: the same input and seed give the same picture whatever the number of
// threads.
#pragma once

#include "embed/tsne.h"

namespace sonde::embed {

struct UmapParams {
  int dims = 2;  // 2 or 3
  size_t neighbours = 15;
  double min_dist = 0.1;
  double spread = 1;
  int epochs = 0;  // 0 = 500 up to 10 000 rows, 200 above
  double learning_rate = 1;
  int negative_samples = 5;
  uint32_t seed = 1;
  Metric metric = Metric::kCosine;
};

Projection umap(const Points& points, const UmapParams& params, ThreadPool& pool,
                const Progress& progress = {});

// The curve 1 / (1 + a d^(2b)) that is 1 below min_dist and falls like exp(-(d - min_dist) /
// spread) above.
struct Curve {
  double a = 1, b = 1;
};
Curve fitted_curve(double spread, double min_dist);

}  // namespace sonde::embed
