// Principal components: the directions of largest variance, the projection on them, and how much of
// the total variance each explains. Signs are fixed (largest loading positive) so that results
// repeat.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "embed/points.h"

namespace sonde::embed {

struct Components {
  size_t count = 0;               // of components
  std::vector<float> positions;   // rows * count
  std::vector<double> explained;  // share of the total variance, per component
  std::vector<float> directions;  // count * dims
};

// Up to this many dimensions the whole covariance matrix is solved; above, a randomised range
// finder.
inline constexpr size_t kExactDims = 2000;

// At most `components`; fewer when the data has fewer dimensions or rows. Empty when stopped.
Components pca(const Points& points, size_t components, ThreadPool& pool,
               const Progress& progress = {}, size_t exact_dims = kExactDims);

}  // namespace sonde::embed
