#include "embed/points.h"

#include <cmath>

namespace sonde::embed {
namespace {

void make_sphere(Points& points) {
  std::vector<double> centroid(points.dims);
  for (size_t i = 0; i < points.count; ++i) {
    for (size_t k = 0; k < points.dims; ++k) centroid[k] += points.row(i)[k];
  }
  for (double& c : centroid) c /= static_cast<double>(points.count);
  for (size_t i = 0; i < points.count; ++i) {
    float* row = points.row(i);
    double norm = 0;
    for (size_t k = 0; k < points.dims; ++k) {
      row[k] = static_cast<float>(row[k] - centroid[k]);
      norm += double{row[k]} * row[k];
    }
    if (norm == 0) continue;
    const auto scale = static_cast<float>(1 / std::sqrt(norm));
    for (size_t k = 0; k < points.dims; ++k) row[k] *= scale;
  }
}

}  // namespace

Prepared prepare(std::span<const float> values, size_t dims, std::span<const uint32_t> subset,
                 Scaling scaling) {
  Prepared result;
  Points& points = result.points;
  const size_t rows = dims == 0 ? 0 : values.size() / dims;
  points.dims = dims;
  points.count = subset.empty() ? rows : subset.size();
  points.values.resize(points.count * dims);
  for (size_t i = 0; i < points.count; ++i) {
    const size_t source = subset.empty() ? i : subset[i];
    for (size_t k = 0; k < dims && source < rows; ++k) {
      const float value = values[source * dims + k];
      const bool finite = std::isfinite(value);
      result.replaced += !finite;
      points.row(i)[k] = finite ? value : 0;
    }
  }
  if (scaling == Scaling::kSphere && points.count > 0) make_sphere(points);
  return result;
}

}  // namespace sonde::embed
