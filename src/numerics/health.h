// What a dump says of one tensor: counts of its values, or the whole tensor, by debug mode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "numerics/debug_event.h"

namespace sonde::numerics {

// Which values that are no numbers a tensor holds.
enum Bad : uint8_t {
  kNone = 0,
  kNegInf = 1,
  kPosInf = 2,
  kNan = 4,
  kSome = 8,  // NaN or infinite: the mode does not say which
};

// Counts are -1 where the mode does not tell them.
struct Health {
  int64_t tensor_id = -1;
  int64_t dtype = -1, rank = -1;
  double size = -1, neg_inf = -1, pos_inf = -1, nan = -1, negative = -1, zero = -1, positive = -1;
  std::vector<int64_t> shape;  // of modes SHAPE and FULL_TENSOR; at most the last six in SHAPE
  uint8_t bad = kNone;

  double zero_share() const { return size > 0 && zero >= 0 ? zero / size : -1; }
  double wrong_share() const {
    return size > 0 && nan >= 0 ? (nan + std::max(neg_inf, 0.0) + std::max(pos_inf, 0.0)) / size
                                : -1;
  }
};

// Further numbers, written by sonde.debug and computed from whole tensors. NaN where not known.
struct Numbers {
  float rms, min, max, mean;  // of the finite values
  float subnormal;            // shares of all values
  float beyond_fp16, beyond_bf16, beyond_fp8;
};
inline constexpr size_t kNumbers = 8;
std::optional<Numbers> parse_numbers(Bytes packed);
// The largest value as a share of what the type can hold; NaN where that is not known.
float saturation(int64_t dtype, const Numbers& numbers);

// The list of numbers that stands for a tensor in every mode but FULL_TENSOR; nothing when the
// record holds none (integers in the health modes, NO_TENSOR).
std::optional<std::vector<double>> debug_values(Bytes tensor);

Health health_of(DebugMode mode, const std::vector<double>& values);

// Of a whole tensor; nothing for types that are no numbers, and for tensors that are empty or too
// large to be looked at (64 M values).
struct Examined {
  Health health;
  Numbers numbers;
};
std::optional<Examined> examine_tensor(Bytes tensor);

}  // namespace sonde::numerics
