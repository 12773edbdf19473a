#include "cli/demo/demo_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde::cli {
namespace {

using Rgb = std::array<uint8_t, 3>;
constexpr Rgb kBlue{37, 99, 235}, kOrange{234, 88, 12}, kWhite{255, 255, 255};

Rgb mixed(const Rgb& a, const Rgb& b, float share) {
  share = std::clamp(share, 0.0f, 1.0f);
  Rgb out;
  for (size_t c = 0; c < 3; ++c)
    out[c] = static_cast<uint8_t>(static_cast<float>(a[c]) +
                                  share * (static_cast<float>(b[c]) - static_cast<float>(a[c])));
  return out;
}

void paint(Picture& picture, int64_t x, int64_t y, const Rgb& color) {
  if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return;
  std::copy(color.begin(), color.end(), picture.bytes.begin() + (y * picture.width + x) * 3);
}

Picture blank(int64_t width, int64_t height) {
  return {height, width, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3), 255)};
}

void fill(Picture& picture, int64_t x, int64_t y, int64_t size, const Rgb& color) {
  for (int64_t dy = 0; dy < size; ++dy)
    for (int64_t dx = 0; dx < size; ++dx) paint(picture, x + dx, y + dy, color);
}

}  // namespace

Picture confusion_matrix(const DataSet& data, std::span<const float> probabilities) {
  const auto n = static_cast<size_t>(data.classes);
  std::vector<double> counts(n * n, 0), totals(n, 0);
  for (size_t r = 0; r < data.size(); ++r) {
    const float* row = probabilities.data() + r * n;
    const auto guess = static_cast<size_t>(std::max_element(row, row + n) - row);
    const auto truth = static_cast<size_t>(data.labels[r]);
    ++counts[truth * n + guess];
    ++totals[truth];
  }
  constexpr int64_t kCell = 24;
  Picture picture = blank(static_cast<int64_t>(n) * kCell + 1, static_cast<int64_t>(n) * kCell + 1);
  for (size_t t = 0; t < n; ++t) {
    for (size_t g = 0; g < n; ++g) {
      const auto share = static_cast<float>(counts[t * n + g] / std::max(1.0, totals[t]));
      fill(picture, static_cast<int64_t>(g) * kCell + 1, static_cast<int64_t>(t) * kCell + 1,
           kCell - 1, mixed(kWhite, t == g ? kBlue : kOrange, std::sqrt(share)));
    }
  }
  return picture;
}

Picture decision_boundary(Model& model, const DataSet& data) {
  constexpr int64_t kWidth = 160, kHeight = 120;
  constexpr float kLeft = -2.2f, kRight = 2.2f, kTop = 1.5f, kBottom = -1.5f;
  std::vector<float> grid;
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      grid.push_back(kLeft + (kRight - kLeft) * static_cast<float>(x) / (kWidth - 1));
      grid.push_back(kTop + (kBottom - kTop) * static_cast<float>(y) / (kHeight - 1));
    }
  }
  const std::vector<float> guess = model.probabilities(grid, static_cast<size_t>(kWidth * kHeight));
  Picture picture = blank(kWidth, kHeight);
  for (int64_t i = 0; i < kWidth * kHeight; ++i) {
    const float p = guess[static_cast<size_t>(i) * 2 + 1];
    paint(picture, i % kWidth, i / kWidth,
          mixed(mixed(kWhite, kBlue, 0.55f), mixed(kWhite, kOrange, 0.55f), p));
  }
  for (size_t r = 0; r < data.size(); ++r) {
    const float* point = data.row(r);
    const auto x = static_cast<int64_t>((point[0] - kLeft) / (kRight - kLeft) * (kWidth - 1));
    const auto y = static_cast<int64_t>((point[1] - kTop) / (kBottom - kTop) * (kHeight - 1));
    fill(picture, x, y, 2, data.labels[r] == 0 ? kBlue : kOrange);
  }
  return picture;
}

Picture first_layer(const Layer& layer, int side) {
  constexpr int64_t kZoom = 3;
  const int64_t patch = side * kZoom + 2;
  const int64_t columns = std::min<int64_t>(8, layer.outputs);
  const int64_t rows = (layer.outputs + columns - 1) / columns;
  Picture picture = blank(columns * patch, rows * patch);
  float largest = 1e-6f;
  for (const float w : layer.weights) largest = std::max(largest, std::abs(w));
  for (int64_t unit = 0; unit < layer.outputs; ++unit) {
    for (int64_t i = 0; i < int64_t{side} * side; ++i) {
      const float w = layer.weights[static_cast<size_t>(i * layer.outputs + unit)] / largest;
      fill(picture, unit % columns * patch + i % side * kZoom + 1,
           unit / columns * patch + i / side * kZoom + 1, kZoom,
           mixed(kWhite, w > 0 ? kOrange : kBlue, std::abs(w)));
    }
  }
  return picture;
}

Surface loss_surface(const Model& model, const DataSet& data, std::mt19937& random) {
  constexpr int kSide = 19;
  std::normal_distribution<float> unit(0, 1);
  // A direction is scaled to the length of each weight matrix, or large layers would drown small
  // ones.
  const auto direction = [&] {
    std::vector<std::vector<float>> out;
    for (const Layer& layer : model.layers()) {
      std::vector<float> d(layer.weights.size());
      double norm = 0, length = 0;
      for (size_t i = 0; i < d.size(); ++i) {
        d[i] = unit(random);
        norm += static_cast<double>(d[i]) * d[i];
        length += static_cast<double>(layer.weights[i]) * layer.weights[i];
      }
      for (float& x : d) x *= static_cast<float>(std::sqrt(length / std::max(norm, 1e-12)));
      out.push_back(std::move(d));
    }
    return out;
  };
  const auto right = direction(), up = direction();
  Surface surface;
  std::vector<float> heights;
  for (int v = 0; v < kSide; ++v) {
    for (int u = 0; u < kSide; ++u) {
      const float a = 2 * static_cast<float>(u) / (kSide - 1) - 1,
                  b = 2 * static_cast<float>(v) / (kSide - 1) - 1;
      Model moved = model;
      for (size_t l = 0; l < moved.layers().size(); ++l)
        for (size_t i = 0; i < right[l].size(); ++i)
          moved.layers()[l].weights[i] += a * right[l][i] + b * up[l][i];
      const auto height = static_cast<float>(std::log1p(moved.evaluate(data).loss));
      heights.push_back(height);
      surface.vertices.insert(surface.vertices.end(), {a, height, b});
    }
  }
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  for (const float h : heights) {
    const Rgb c = mixed(kBlue, kOrange, (h - *low) / std::max(*high - *low, 1e-6f));
    surface.colors.insert(surface.colors.end(), c.begin(), c.end());
  }
  for (int v = 0; v + 1 < kSide; ++v) {
    for (int u = 0; u + 1 < kSide; ++u) {
      const int32_t i = v * kSide + u;
      surface.faces.insert(surface.faces.end(),
                           {i, i + 1, i + kSide, i + 1, i + kSide + 1, i + kSide});
    }
  }
  return surface;
}

std::vector<float> sonified(std::span<const double> series, int sample_rate) {
  std::vector<float> out(static_cast<size_t>(sample_rate) * 2);
  if (series.empty()) return out;
  double phase = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double value = std::max(series[i * series.size() / out.size()], 1e-4);
    phase += 2 * M_PI * std::clamp(440 * value, 60.0, 3000.0) / sample_rate;
    const double fade =
        std::min({1.0, static_cast<double>(i) / 500, static_cast<double>(out.size() - i) / 500});
    out[i] = static_cast<float>(0.4 * fade * std::sin(phase));
  }
  return out;
}

}  // namespace sonde::cli
