// Counting what a tensor in main memory holds, in one pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sonde::python {

inline constexpr int kFirstExponent = -32;  // as in numerics/dump.h
inline constexpr size_t kBuckets = 64;

struct Stats {
  double size = 0, neg_inf = 0, pos_inf = 0, nan = 0, negative = 0, zero = 0, positive = 0;
  double squares = 0, sum = 0;  // of the finite values
  double min = std::numeric_limits<double>::infinity(), max = -min;
  double subnormal = 0, beyond_fp16 = 0, beyond_bf16 = 0, beyond_fp8 = 0;
  std::array<uint32_t, kBuckets> exponents{};  // by binary exponent, when asked for

  double finite() const { return negative + zero + positive; }
  bool is_bad() const { return neg_inf + pos_inf + nan > 0; }
  // rms, min, max, mean (NaN without a finite value); shares of subnormal, beyond fp16, bf16, fp8.
  std::array<double, 8> numbers() const;
};

enum class Element { kFloat32, kFloat64, kFloat16, kBfloat16 };

Stats count_values(const void* data, size_t count, Element type, bool with_histogram);
// Whether one of the values is NaN or infinite.
bool has_bad(const void* data, size_t count, Element type);

}  // namespace sonde::python
