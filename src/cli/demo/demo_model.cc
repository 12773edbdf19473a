#include "cli/demo/demo_model.h"

#include <algorithm>
#include <cmath>

namespace sonde::cli {
namespace {

// out[rows, n] = bias + in[rows, m] * weights[m, n]
[[gnu::optimize("O3")]] void multiply(const float* in, size_t rows, const Layer& layer,
                                      float* out) {
  const auto m = static_cast<size_t>(layer.inputs), n = static_cast<size_t>(layer.outputs);
  for (size_t r = 0; r < rows; ++r) {
    float* to = out + r * n;
    std::copy(layer.biases.begin(), layer.biases.end(), to);
    for (size_t i = 0; i < m; ++i) {
      const float x = in[r * m + i];
      const float* w = layer.weights.data() + i * n;
      for (size_t j = 0; j < n; ++j) to[j] += x * w[j];
    }
  }
}

[[gnu::optimize("O3")]] void add_gradients(const float* in, const float* delta, size_t rows,
                                           Layer& layer) {
  const auto m = static_cast<size_t>(layer.inputs), n = static_cast<size_t>(layer.outputs);
  for (size_t r = 0; r < rows; ++r) {
    const float* d = delta + r * n;
    for (size_t j = 0; j < n; ++j) layer.bias_gradients[j] += d[j];
    for (size_t i = 0; i < m; ++i) {
      const float x = in[r * m + i];
      float* g = layer.weight_gradients.data() + i * n;
      for (size_t j = 0; j < n; ++j) g[j] += x * d[j];
    }
  }
}

// back[rows, m] = delta[rows, n] * weights^T
[[gnu::optimize("O3")]] void pull_back(const float* delta, size_t rows, const Layer& layer,
                                       float* back) {
  const auto m = static_cast<size_t>(layer.inputs), n = static_cast<size_t>(layer.outputs);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < m; ++i) {
      float sum = 0;
      const float* w = layer.weights.data() + i * n;
      for (size_t j = 0; j < n; ++j) sum += w[j] * delta[r * n + j];
      back[r * m + i] = sum;
    }
  }
}

void softmax(float* row, size_t n) {
  const float top = *std::max_element(row, row + n);
  float sum = 0;
  for (size_t j = 0; j < n; ++j) sum += row[j] = std::exp(row[j] - top);
  for (size_t j = 0; j < n; ++j) row[j] /= sum;
}

void descend(std::vector<float>& values, std::vector<float>& velocity,
             const std::vector<float>& gradients, float rate, float momentum) {
  for (size_t i = 0; i < values.size(); ++i) {
    velocity[i] = momentum * velocity[i] - rate * gradients[i];
    values[i] += velocity[i];
  }
}

}  // namespace

Model::Model(std::vector<int> sizes, Activation activation, std::mt19937& random)
    : activation_(activation) {
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    Layer layer;
    layer.inputs = sizes[i];
    layer.outputs = sizes[i + 1];
    const size_t count = static_cast<size_t>(layer.inputs) * static_cast<size_t>(layer.outputs);
    std::normal_distribution<float> initial(0, std::sqrt(1.5f / static_cast<float>(layer.inputs)));
    for (size_t k = 0; k < count; ++k) layer.weights.push_back(initial(random));
    layer.biases.assign(static_cast<size_t>(layer.outputs), 0);
    layer.weight_gradients.assign(count, 0);
    layer.bias_gradients.assign(layer.biases.size(), 0);
    layer.weight_velocity.assign(count, 0);
    layer.bias_velocity.assign(layer.biases.size(), 0);
    layers_.push_back(std::move(layer));
  }
  outputs_.resize(layers_.size());
}

void Model::record(Timeline* timeline) {
  timeline_ = timeline;
  if (!names_.empty()) return;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const bool last = l + 1 == layers_.size();
    const std::string scope =
        last ? std::string("model/logits") : "model/dense_" + std::to_string(l + 1);
    const char* activation = last ? "Softmax" : activation_ == Activation::kRelu ? "Relu" : "Tanh";
    names_.push_back({scope + "/MatMul:MatMul", scope + "/" + activation + ":" + activation,
                      "train/gradients/" + scope.substr(6) + ":MatMulGrad"});
  }
}

void Model::forward(std::span<const float> inputs, size_t rows) {
  const float* in = inputs.data();
  for (size_t l = 0; l < layers_.size(); ++l) {
    std::vector<float>& out = outputs_[l];
    const auto n = static_cast<size_t>(layers_[l].outputs);
    out.resize(rows * n);
    {
      const Timeline::Span span(timeline_, names_.empty() ? "" : names_[l].multiply);
      multiply(in, rows, layers_[l], out.data());
    }
    const Timeline::Span span(timeline_, names_.empty() ? "" : names_[l].activate);
    if (l + 1 == layers_.size()) {
      for (size_t r = 0; r < rows; ++r) softmax(out.data() + r * n, n);
    } else if (activation_ == Activation::kRelu) {
      for (float& x : out) x = std::max(x, 0.0f);
    } else {
      for (float& x : out) x = std::tanh(x);
    }
    in = out.data();
  }
}

Score Model::backward(std::span<const float> inputs, std::span<const int> labels) {
  const size_t rows = labels.size();
  const auto classes = static_cast<size_t>(layers_.back().outputs);
  std::vector<float> delta = outputs_.back();
  Score score;
  for (size_t r = 0; r < rows; ++r) {
    float* row = delta.data() + r * classes;
    const auto label = static_cast<size_t>(labels[r]);
    score.loss -= std::log(std::max(row[label], 1e-9f));
    score.accuracy += std::max_element(row, row + classes) - row == labels[r] ? 1 : 0;
    row[label] -= 1;
  }
  for (float& d : delta) d /= static_cast<float>(rows);
  for (size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    const Timeline::Span span(timeline_, names_.empty() ? "" : names_[l].gradient);
    std::fill(layer.weight_gradients.begin(), layer.weight_gradients.end(), 0.0f);
    std::fill(layer.bias_gradients.begin(), layer.bias_gradients.end(), 0.0f);
    add_gradients(l == 0 ? inputs.data() : outputs_[l - 1].data(), delta.data(), rows, layer);
    if (l == 0) break;
    std::vector<float> back(rows * static_cast<size_t>(layer.inputs));
    pull_back(delta.data(), rows, layer, back.data());
    for (size_t i = 0; i < back.size(); ++i) {
      const float y = outputs_[l - 1][i];
      back[i] *= activation_ == Activation::kRelu ? (y > 0 ? 1.0f : 0.0f) : 1 - y * y;
    }
    delta = std::move(back);
  }
  return {score.loss / static_cast<double>(rows), score.accuracy / static_cast<double>(rows)};
}

Score Model::train(const DataSet& data, std::span<const size_t> rows, float rate, float momentum) {
  std::vector<float> inputs;
  std::vector<int> labels;
  {
    const Timeline::Span span(timeline_, "input/GatherBatch:GatherV2");
    for (const size_t r : rows) {
      inputs.insert(inputs.end(), data.row(r), data.row(r) + data.features);
      labels.push_back(data.labels[r]);
    }
  }
  forward(inputs, rows.size());
  const Score score = backward(inputs, labels);
  const Timeline::Span span(timeline_, "train/update:ApplyMomentum");
  for (Layer& layer : layers_) {
    descend(layer.weights, layer.weight_velocity, layer.weight_gradients, rate, momentum);
    descend(layer.biases, layer.bias_velocity, layer.bias_gradients, rate, momentum);
  }
  return score;
}

Score Model::evaluate(const DataSet& data) {
  forward(data.inputs, data.size());
  const auto classes = static_cast<size_t>(data.classes);
  Score score;
  for (size_t r = 0; r < data.size(); ++r) {
    const float* row = outputs_.back().data() + r * classes;
    score.loss -= std::log(std::max(row[data.labels[r]], 1e-9f));
    score.accuracy += std::max_element(row, row + classes) - row == data.labels[r] ? 1 : 0;
  }
  const auto n = static_cast<double>(data.size());
  return {score.loss / n, score.accuracy / n};
}

std::vector<float> Model::probabilities(std::span<const float> inputs, size_t rows) {
  forward(inputs, rows);
  return outputs_.back();
}

std::vector<float> Model::hidden(std::span<const float> inputs, size_t rows) {
  forward(inputs, rows);
  return outputs_[outputs_.size() - 2];
}

double Model::gradient_norm() const {
  double sum = 0;
  for (const Layer& layer : layers_) {
    for (const float g : layer.weight_gradients) sum += static_cast<double>(g) * g;
    for (const float g : layer.bias_gradients) sum += static_cast<double>(g) * g;
  }
  return std::sqrt(sum);
}

}  // namespace sonde::cli
