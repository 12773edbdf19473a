#include "tensor_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "log/event/tensor.h"

// The module is built for size; here loops over tensors count.
#pragma GCC optimize("O3")

namespace sonde::python {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SONDE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define SONDE_WIDE
#endif

constexpr float kHalfMax = 65504, kBfloatMax = 3.38953139e38f, kFloat8Max = 448;

constexpr size_t kLanes = 8;
constexpr size_t kBlock = 4096;  // floats that stay in the first cache

using Floats = float __attribute__((vector_size(32)));
using Words = int32_t __attribute__((vector_size(32)));

// Sums of one block, a lane each.
struct Lanes {
  Floats sum, squares, min, max;
  Words worst, negative, zero, half, float8, small;  // worst: the largest value's bits
};

SONDE_WIDE void add_lanes(Lanes& into, const float* values, size_t count) {
  Lanes all = into;
  for (size_t i = 0; i < count; i += kLanes) {
    Floats value;
    std::memcpy(&value, values + i, sizeof value);
    const Words bits = std::bit_cast<Words>(value) & 0x7fffffff;
    const Floats size = std::bit_cast<Floats>(bits);
    all.worst = bits > all.worst ? bits : all.worst;
    all.sum += value;
    all.squares += value * value;
    all.min = value < all.min ? value : all.min;
    all.max = value > all.max ? value : all.max;
    all.negative -= value < 0.0f;  // true is -1
    all.zero -= size == 0.0f;
    all.half -= size > kHalfMax;
    all.float8 -= size > kFloat8Max;
    all.small -= size < std::numeric_limits<float>::min();
  }
  into = all;
}

// One block of values, all of them finite unless `worst` says otherwise.
struct Block {
  float min = std::numeric_limits<float>::infinity(), max = -min;
  int32_t worst = 0;
  double sum = 0, squares = 0;
  uint32_t negative = 0, zero = 0, half = 0, float8 = 0, subnormal = 0;

  bool is_finite() const { return worst < 0x7f800000; }
};

Block count_block(const float* values, size_t count) {
  Block block;
  const size_t even = count / kLanes * kLanes;
  if (even > 0) {
    Lanes all{};
    all.min = all.min + std::numeric_limits<float>::infinity();
    all.max = all.max - std::numeric_limits<float>::infinity();
    add_lanes(all, values, even);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      block.sum += static_cast<double>(all.sum[lane]);
      block.squares += static_cast<double>(all.squares[lane]);
      block.min = std::min(block.min, static_cast<float>(all.min[lane]));
      block.max = std::max(block.max, static_cast<float>(all.max[lane]));
      block.worst = std::max(block.worst, static_cast<int32_t>(all.worst[lane]));
      block.negative += static_cast<uint32_t>(all.negative[lane]);
      block.zero += static_cast<uint32_t>(all.zero[lane]);
      block.half += static_cast<uint32_t>(all.half[lane]);
      block.float8 += static_cast<uint32_t>(all.float8[lane]);
      block.subnormal += static_cast<uint32_t>(all.small[lane]);
    }
  }
  for (size_t i = even; i < count; ++i) {
    const float value = values[i];
    const float size = std::fabs(value);
    block.worst = std::max(block.worst, std::bit_cast<int32_t>(size));
    block.sum += static_cast<double>(value);
    block.squares += static_cast<double>(value) * static_cast<double>(value);
    block.min = std::min(block.min, value);
    block.max = std::max(block.max, value);
    block.negative += value < 0;
    block.zero += value == 0;
    block.half += size > kHalfMax;
    block.float8 += size > kFloat8Max;
    block.subnormal += size < std::numeric_limits<float>::min();
  }
  return block;
}

void add_finite(Stats& stats, Block block, const float* values, size_t count) {
  if (!std::isfinite(block.squares)) {  // squares of large floats leave the float range
    block.squares = 0;
    for (size_t i = 0; i < count; ++i)
      block.squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  stats.sum += block.sum;
  stats.squares += block.squares;
  stats.min = std::min<double>(stats.min, static_cast<double>(block.min));
  stats.max = std::max<double>(stats.max, static_cast<double>(block.max));
  stats.negative += block.negative;
  stats.zero += block.zero;
  stats.positive += static_cast<double>(count) - block.negative - block.zero;
  stats.beyond_fp16 += block.half;
  stats.beyond_fp8 += block.float8;
  stats.subnormal += block.subnormal - block.zero;
}

void add_any(Stats& stats, float value) {
  if (std::isnan(value)) {
    ++stats.nan;
  } else if (std::isinf(value)) {
    ++(value < 0 ? stats.neg_inf : stats.pos_inf);
  } else {
    add_finite(stats, count_block(&value, 1), &value, 1);
  }
}

void add_block(Stats& stats, const float* values, size_t count, bool with_histogram) {
  stats.size += static_cast<double>(count);
  const Block block = count_block(values, count);
  if (block.is_finite()) {
    add_finite(stats, block, values, count);
  } else {
    for (size_t i = 0; i < count; ++i) add_any(stats, values[i]);
  }
  if (!with_histogram) return;
  for (size_t i = 0; i < count; ++i) {
    const int exponent = static_cast<int>(std::bit_cast<uint32_t>(values[i]) >> 23 & 0xff) - 127;
    if (exponent == 128 || values[i] == 0) continue;
    const int bucket = std::clamp(exponent - kFirstExponent, 0, static_cast<int>(kBuckets) - 1);
    ++stats.exponents[static_cast<size_t>(bucket)];
  }
}

template <class T, class Convert>
void add_converted(Stats& stats, const T* values, size_t count, bool with_histogram,
                   Convert convert) {
  std::array<float, kBlock> block;
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t n = std::min(kBlock, count - at);
    for (size_t i = 0; i < n; ++i) block[i] = convert(values[at + i]);
    add_block(stats, block.data(), n, with_histogram);
  }
}

// float64 beyond float32's range would look infinite: counted as it is.
void add_doubles(Stats& stats, const double* values, size_t count, bool with_histogram) {
  for (size_t i = 0; i < count; ++i) {
    const double value = values[i];
    const auto narrow = static_cast<float>(value);
    if (std::isfinite(value) && !std::isfinite(narrow)) {
      ++stats.size;
      ++(value < 0 ? stats.negative : stats.positive);
      stats.min = std::min(stats.min, value);
      stats.max = std::max(stats.max, value);
      ++stats.beyond_fp16;
      ++stats.beyond_bf16;
      ++stats.beyond_fp8;
    } else {
      add_block(stats, &narrow, 1, with_histogram);
    }
  }
}

}  // namespace

std::array<double, 8> Stats::numbers() const {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  const double n = finite();
  const auto share = [&](double part) { return size > 0 ? part / size : 0; };
  return {n > 0 ? std::sqrt(squares / n) : kNothing,
          n > 0 ? min : kNothing,
          n > 0 ? max : kNothing,
          n > 0 ? sum / n : kNothing,
          share(subnormal),
          share(beyond_fp16),
          share(beyond_bf16),
          share(beyond_fp8)};
}

Stats count_values(const void* data, size_t count, Element type, bool with_histogram) {
  Stats stats;
  switch (type) {
    case Element::kBfloat16:
      add_converted(stats, static_cast<const uint16_t*>(data), count, with_histogram,
                    event::bfloat16_to_float);
      break;
    case Element::kFloat16:
      add_converted(stats, static_cast<const uint16_t*>(data), count, with_histogram,
                    event::half_to_float);
      break;
    case Element::kFloat32:
      for (size_t at = 0; at < count; at += kBlock)
        add_block(stats, static_cast<const float*>(data) + at, std::min(kBlock, count - at),
                  with_histogram);
      break;
    case Element::kFloat64:
      add_doubles(stats, static_cast<const double*>(data), count, with_histogram);
      break;
  }
  return stats;
}

}  // namespace sonde::python
