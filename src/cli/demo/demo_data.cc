#include "cli/demo/demo_data.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde::cli {
namespace {

// Five columns by seven rows, one row a number, the leftmost pixel in bit 4.
constexpr std::array<std::array<uint8_t, 7>, 10> kFont = {{
    {14, 17, 19, 21, 25, 17, 14},
    {4, 12, 4, 4, 4, 4, 14},
    {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},
    {2, 6, 10, 18, 31, 2, 2},
    {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},
    {31, 1, 2, 4, 8, 8, 8},
    {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
}};

float ink(int digit, int column, int row) {
  if (column < 0 || column > 4 || row < 0 || row > 6) return 0;
  return static_cast<float>(
      (kFont[static_cast<size_t>(digit)][static_cast<size_t>(row)] >> (4 - column)) & 1);
}

// The font between its pixels, bilinear.
float ink_at(int digit, float x, float y) {
  const float fx = std::floor(x), fy = std::floor(y);
  const int c = static_cast<int>(fx), r = static_cast<int>(fy);
  const float u = x - fx, v = y - fy;
  return (1 - u) * (1 - v) * ink(digit, c, r) + u * (1 - v) * ink(digit, c + 1, r) +
         (1 - u) * v * ink(digit, c, r + 1) + u * v * ink(digit, c + 1, r + 1);
}

}  // namespace

DataSet two_moons(size_t count, float noise, std::mt19937& random) {
  std::uniform_real_distribution<float> angle(0, 3.14159265f);
  std::normal_distribution<float> jitter(0, noise);
  DataSet data{2, 2, {}, {}};
  for (size_t i = 0; i < count; ++i) {
    const int label = static_cast<int>(i % 2);
    const float a = angle(random);
    const float x = label == 0 ? std::cos(a) : 1 - std::cos(a);
    const float y = label == 0 ? std::sin(a) : 0.5f - std::sin(a);
    data.inputs.push_back(x - 0.5f + jitter(random));
    data.inputs.push_back(y - 0.25f + jitter(random));
    data.labels.push_back(label);
  }
  return data;
}

DataSet digits(size_t count, float noise, std::mt19937& random) {
  std::uniform_real_distribution<float> shift(-1, 1), turn(-0.3f, 0.3f), size(0.9f, 1.15f);
  std::normal_distribution<float> jitter(0, noise);
  DataSet data{kDigitSide * kDigitSide, 10, {}, {}};
  for (size_t i = 0; i < count; ++i) {
    const int digit = static_cast<int>(i % 10);
    const float a = turn(random), dx = shift(random), dy = shift(random);
    const float zoom = 0.68f * size(random);
    constexpr float kMiddle = (kDigitSide - 1) / 2.0f;
    for (int row = 0; row < kDigitSide; ++row) {
      for (int column = 0; column < kDigitSide; ++column) {
        const float x = (static_cast<float>(column) - kMiddle - dx) * zoom;
        const float y = (static_cast<float>(row) - kMiddle - dy) * zoom;
        const float value = ink_at(digit, std::cos(a) * x - std::sin(a) * y + 2,
                                   std::sin(a) * x + std::cos(a) * y + 3);
        data.inputs.push_back(std::clamp(value + jitter(random), 0.0f, 1.0f));
      }
    }
    data.labels.push_back(digit);
  }
  return data;
}

}  // namespace sonde::cli
