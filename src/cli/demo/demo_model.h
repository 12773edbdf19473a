// A multilayer perceptron with softmax output, trained by stochastic gradient descent with
// momentum. Plain loops over floats: the demo needs a model that really learns, not a fast one.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/demo/demo_data.h"
#include "cli/demo/demo_timeline.h"

namespace sonde::cli {

enum class Activation : uint8_t { kRelu, kTanh };

struct Layer {
  int inputs = 0, outputs = 0;
  std::vector<float> weights;  // [inputs, outputs]
  std::vector<float> biases;
  std::vector<float> weight_gradients, bias_gradients;
  std::vector<float> weight_velocity, bias_velocity;
};

struct Score {
  double loss = 0;
  double accuracy = 0;
};

class Model {
 public:
  Model(std::vector<int> sizes, Activation activation, std::mt19937& random);

  // One step on the given rows; the gradients stay readable until the next.
  Score train(const DataSet& data, std::span<const size_t> rows, float rate, float momentum);
  Score evaluate(const DataSet& data);

  // Class probabilities [rows, classes].
  std::vector<float> probabilities(std::span<const float> inputs, size_t rows);
  // Activations of the last hidden layer [rows, width].
  std::vector<float> hidden(std::span<const float> inputs, size_t rows);

  double gradient_norm() const;
  std::vector<Layer>& layers() { return layers_; }
  const std::vector<Layer>& layers() const { return layers_; }
  Activation activation() const { return activation_; }
  // Where train() notes what it does; null for nowhere.
  void record(Timeline* timeline);

 private:
  void forward(std::span<const float> inputs, size_t rows);
  Score backward(std::span<const float> inputs, std::span<const int> labels);

  Activation activation_;
  Timeline* timeline_ = nullptr;
  struct OpNames {
    std::string multiply, activate, gradient;
  };
  std::vector<OpNames> names_;  // by layer, once something was recorded
  std::vector<Layer> layers_;
  std::vector<std::vector<float>> outputs_;  // of each layer, for the rows of the last forward
};

}  // namespace sonde::cli
