#include "embed/axes.h"

#include <cmath>
#include <random>

namespace sonde::embed {
namespace {

std::vector<double> centroid(std::span<const float> table, size_t dims,
                             std::span<const uint32_t> rows, std::mt19937& random) {
  std::vector<double> centre(dims);
  if (rows.empty()) {
    std::uniform_real_distribution<double> place(0, 1);
    for (double& value : centre) value = place(random);
    return centre;
  }
  for (const uint32_t row : rows) {
    for (size_t k = 0; k < dims; ++k) {
      const float value = table[row * dims + k];
      if (std::isfinite(value)) centre[k] += value;
    }
  }
  for (double& value : centre) value /= static_cast<double>(rows.size());
  return centre;
}

}  // namespace

std::vector<float> along_axes(const Points& points, std::span<const float> table,
                              std::span<const Axis> axes) {
  std::vector<float> positions(points.count * axes.size());
  std::mt19937 random(1);
  for (size_t a = 0; a < axes.size(); ++a) {
    const auto from = centroid(table, points.dims, axes[a].from, random);
    const auto to = centroid(table, points.dims, axes[a].to, random);
    for (size_t i = 0; i < points.count; ++i) {
      double sum = 0;
      for (size_t k = 0; k < points.dims; ++k) sum += points.row(i)[k] * (to[k] - from[k]);
      positions[i * axes.size() + a] = static_cast<float>(sum);
    }
  }
  return positions;
}

}  // namespace sonde::embed
