#include "tensor_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

// The module is built for size; here loops over tensors count.
#pragma GCC optimize("O3")

namespace sonde::python {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SONDE_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SONDE_WIDE
#endif

constexpr float kHalfMax = 65504, kBfloatMax = 3.38953139e38f, kFloat8Max = 448;

constexpr size_t kLanes = 16;
constexpr size_t kBlock = 4096;  // floats that stay in the first cache

using Floats = float __attribute__((vector_size(4 * kLanes)));
using Words = int32_t __attribute__((vector_size(4 * kLanes)));

// Sums of one block, a lane each. What most blocks hold none of is counted by a second look.
struct Lanes {
  Floats sum, squares, min, max;
  Words negative, small;  // small: zero or subnormal
};

SONDE_WIDE void add_lanes(Lanes& into, const float* values, size_t count) {
  Lanes all = into;
  for (size_t i = 0; i < count; i += kLanes) {
    Floats value;
    std::memcpy(&value, values + i, sizeof value);
    const Words bits = std::bit_cast<Words>(value) & 0x7fffffff;
    all.sum += value;
    all.squares += value * value;
    all.min = value < all.min ? value : all.min;
    all.max = value > all.max ? value : all.max;
    all.negative -= value < 0.0f;  // true is -1
    all.small -= bits < 0x00800000;
  }
  into = all;
}

SONDE_WIDE uint32_t count_zeros(const float* values, size_t count) {
  uint32_t zeros = 0;
  for (size_t i = 0; i < count; ++i) zeros += values[i] == 0;
  return zeros;
}

SONDE_WIDE uint32_t count_beyond(const float* values, size_t count, float limit) {
  uint32_t beyond = 0;
  for (size_t i = 0; i < count; ++i) beyond += std::fabs(values[i]) > limit;
  return beyond;
}

// Squares of large floats leave the float range.
double sum_squares(const float* values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

// One block of values. The sum is not finite when one of them is not.
struct Block {
  float min = std::numeric_limits<float>::infinity(), max = -min;
  double sum = 0, squares = 0;
  uint32_t negative = 0, small = 0;
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
      block.negative += static_cast<uint32_t>(all.negative[lane]);
      block.small += static_cast<uint32_t>(all.small[lane]);
    }
  }
  for (size_t i = even; i < count; ++i) {
    const float value = values[i];
    block.sum += static_cast<double>(value);
    block.squares += static_cast<double>(value) * static_cast<double>(value);
    block.min = std::min(block.min, value);
    block.max = std::max(block.max, value);
    block.negative += value < 0;
    block.small += std::fabs(value) < std::numeric_limits<float>::min();
  }
  return block;
}

// Of a block in which all values are finite.
void add_finite(Stats& stats, const Block& block, const float* values, size_t count) {
  const uint32_t zero = block.small > 0 ? count_zeros(values, count) : 0;
  const float largest = std::max(-block.min, block.max);
  if (largest > kFloat8Max) stats.beyond_fp8 += count_beyond(values, count, kFloat8Max);
  if (largest > kHalfMax) stats.beyond_fp16 += count_beyond(values, count, kHalfMax);
  if (largest > kBfloatMax) stats.beyond_bf16 += count_beyond(values, count, kBfloatMax);
  stats.sum += std::isfinite(block.sum)
                   ? block.sum
                   : std::accumulate(values, values + count, 0.0);  // left the float range
  stats.squares += std::isfinite(block.squares) ? block.squares : sum_squares(values, count);
  stats.min = std::min<double>(stats.min, static_cast<double>(block.min));
  stats.max = std::max<double>(stats.max, static_cast<double>(block.max));
  stats.negative += block.negative;
  stats.zero += zero;
  stats.positive += static_cast<double>(count) - block.negative - zero;
  stats.subnormal += block.small - zero;
}

SONDE_WIDE bool are_finite(const float* values, size_t count) {
  int32_t bad = 0;
  for (size_t i = 0; i < count; ++i)
    bad |= (std::bit_cast<int32_t>(values[i]) & 0x7f800000) == 0x7f800000;
  return bad == 0;
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

// Exponents of floats as they are stored, 0 to 255. Four tables: a counter that was just written is
// slow to read.
struct Exponents {
  std::array<std::array<uint32_t, 256>, 4> tables{};

  void add(const float* values, size_t count) {
    const auto bucket = [&](size_t i) { return std::bit_cast<uint32_t>(values[i]) >> 23 & 0xff; };
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      ++tables[0][bucket(i)];
      ++tables[1][bucket(i + 1)];
      ++tables[2][bucket(i + 2)];
      ++tables[3][bucket(i + 3)];
    }
    for (; i < count; ++i) ++tables[0][bucket(i)];
  }

  // Subnormal values are in the first bucket, zeros nowhere.
  void fold_into(Stats& stats) const {
    for (size_t stored = 0; stored < 255; ++stored) {  // 255: NaN and infinity
      uint32_t count = 0;
      for (const auto& table : tables) count += table[stored];
      if (stored == 0) count -= static_cast<uint32_t>(stats.zero);
      const int bucket = std::clamp(static_cast<int>(stored) - 127 - kFirstExponent, 0,
                                    static_cast<int>(kBuckets) - 1);
      stats.exponents[static_cast<size_t>(bucket)] += count;
    }
  }
};

void add_block(Stats& stats, const float* values, size_t count, Exponents* exponents) {
  stats.size += static_cast<double>(count);
  const Block block = count_block(values, count);
  if (std::isfinite(block.sum) || are_finite(values, count)) {
    add_finite(stats, block, values, count);
  } else {
    for (size_t i = 0; i < count; ++i) add_any(stats, values[i]);
  }
  if (exponents) exponents->add(values, count);
}

SONDE_WIDE void widen_bfloat16(float* into, const uint16_t* values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    into[i] = std::bit_cast<float>(static_cast<uint32_t>(values[i]) << 16);
}

// Without branches, so that many go at once.
SONDE_WIDE void widen_float16(float* into, const uint16_t* values, size_t count) {
  constexpr uint32_t kExponent = 0x7c00u << 13;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = values[i];
    const uint32_t shifted = (bits & 0x7fff) << 13;
    const uint32_t exponent = shifted & kExponent;
    const uint32_t normal = shifted + (112u << 23) + (exponent == kExponent ? 112u << 23 : 0);
    // A subnormal half is a normal float: let the subtraction find its exponent.
    const float subnormal =
        std::bit_cast<float>(shifted + (113u << 23)) - std::bit_cast<float>(113u << 23);
    const uint32_t size = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : normal;
    into[i] = std::bit_cast<float>(size | (bits & 0x8000) << 16);
  }
}

// float64 beyond float32's range would look infinite: counted as it is.
void add_beyond(Stats& stats, double value) {
  ++stats.size;
  ++(value < 0 ? stats.negative : stats.positive);
  stats.min = std::min(stats.min, value);
  stats.max = std::max(stats.max, value);
  ++stats.beyond_fp16;
  ++stats.beyond_bf16;
  ++stats.beyond_fp8;
}

void add_doubles(Stats& stats, const double* values, size_t count, Exponents* exponents) {
  std::array<float, kBlock> block;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    block[kept] = static_cast<float>(values[i]);
    if (std::isinf(block[kept]) && std::isfinite(values[i])) {
      add_beyond(stats, values[i]);
    } else {
      ++kept;
    }
  }
  if (kept > 0) add_block(stats, block.data(), kept, exponents);
}

// `add` takes a block of at most kBlock values.
template <class T, class Add>
void in_blocks(const void* data, size_t count, Add add) {
  const auto* values = static_cast<const T*>(data);
  for (size_t at = 0; at < count; at += kBlock) add(values + at, std::min(kBlock, count - at));
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
  std::optional<Exponents> tables;
  if (with_histogram) tables.emplace();
  Exponents* const exponents = tables ? &*tables : nullptr;
  const auto widened = [&](auto widen) {
    in_blocks<uint16_t>(data, count, [&](const uint16_t* values, size_t n) {
      std::array<float, kBlock> block;
      widen(block.data(), values, n);
      add_block(stats, block.data(), n, exponents);
    });
  };
  switch (type) {
    case Element::kBfloat16:
      widened(widen_bfloat16);
      break;
    case Element::kFloat16:
      widened(widen_float16);
      break;
    case Element::kFloat32:
      in_blocks<float>(data, count, [&](const float* values, size_t n) {
        add_block(stats, values, n, exponents);
      });
      break;
    case Element::kFloat64:
      in_blocks<double>(data, count, [&](const double* values, size_t n) {
        add_doubles(stats, values, n, exponents);
      });
      break;
  }
  if (exponents) exponents->fold_into(stats);
  return stats;
}

bool has_bad(const void* data, size_t count, Element type) {
  bool is_bad = false;
  const auto look = [&](bool is_finite) { is_bad = is_bad || !is_finite; };
  const auto widened = [&](auto widen) {
    in_blocks<uint16_t>(data, count, [&](const uint16_t* values, size_t n) {
      std::array<float, kBlock> block;
      widen(block.data(), values, n);
      look(are_finite(block.data(), n));
    });
  };
  switch (type) {
    case Element::kBfloat16:
      widened(widen_bfloat16);
      break;
    case Element::kFloat16:
      widened(widen_float16);
      break;
    case Element::kFloat32:
      look(are_finite(static_cast<const float*>(data), count));
      break;
    case Element::kFloat64: {
      const auto* values = static_cast<const double*>(data);
      look(std::all_of(values, values + count, [](double value) { return std::isfinite(value); }));
      break;
    }
  }
  return is_bad;
}

}  // namespace sonde::python
