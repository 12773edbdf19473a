// Pictures and sounds the demo logs, each computed from the model it is training.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/demo/demo_data.h"
#include "cli/demo/demo_model.h"

namespace sonde::cli {

struct Picture {
  int64_t height = 0, width = 0, channels = 3;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> shape() const { return {1, height, width, channels}; }
};

// Rows are true classes, columns predicted ones; darker is more, the diagonal is right.
Picture confusion_matrix(const DataSet& data, std::span<const float> probabilities);
// The plane coloured by the predicted class, the points of `data` on top.
Picture decision_boundary(Model& model, const DataSet& data);
// Weights of the first layer, one patch a hidden unit: red adds, blue takes away.
Picture first_layer(const Layer& layer, int side);

struct Surface {
  std::vector<float> vertices;  // [n, 3]
  std::vector<int32_t> faces;   // [m, 3]
  std::vector<uint8_t> colors;  // [n, 3]
};
// The loss over two random directions through the current weights, as a mesh.
Surface loss_surface(const Model& model, const DataSet& data, std::mt19937& random);

// The course of a series as a tone: an octave a halving, two seconds long.
std::vector<float> sonified(std::span<const double> series, int sample_rate);

}  // namespace sonde::cli
