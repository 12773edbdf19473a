// Data the demo trains on, made from a seed: two interleaved half circles, and digits drawn from a
// small font, shifted, turned, blurred and covered with noise.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace sonde::cli {

struct DataSet {
  int features = 0;
  int classes = 0;
  std::vector<float> inputs;  // rows of features
  std::vector<int> labels;
  size_t size() const { return labels.size(); }
  const float* row(size_t i) const { return inputs.data() + i * static_cast<size_t>(features); }
};

inline constexpr int kDigitSide = 12;  // pixels

DataSet two_moons(size_t count, float noise, std::mt19937& random);
DataSet digits(size_t count, float noise, std::mt19937& random);

}  // namespace sonde::cli
