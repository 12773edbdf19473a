// A picture along directions a person chose: each axis leads from the centroid of one set of rows
// to the centroid of another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "embed/points.h"

namespace sonde::embed {

struct Axis {
  std::span<const uint32_t> from, to;  // rows of the table below
};

// positions: rows of `points` times axes, dot products. Centroids are of `table` (rows of
// points.dims floats). An end without rows is a random place, the same each time, as TensorBoard
// does.
std::vector<float> along_axes(const Points& points, std::span<const float> table,
                              std::span<const Axis> axes);

}  // namespace sonde::embed
