// What sonde.debug does often: framing records and counting what a tensor holds, with the GIL
// released while the work is done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codec/wire.h"
#include "log/event/tensor.h"
#include "log/write/frame.h"

// The module is built for size; here loops over tensors count.
#pragma GCC optimize("O3")

namespace sonde::python {
namespace nb = nanobind;
namespace {

constexpr int kFirstExponent = -32;  // as in numerics/dump.h
constexpr size_t kBuckets = 64;

struct Stats {
  double size = 0, neg_inf = 0, pos_inf = 0, nan = 0, negative = 0, zero = 0, positive = 0;
  double squares = 0, sum = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min;
  double subnormal = 0, beyond_fp16 = 0, beyond_bf16 = 0, beyond_fp8 = 0;
  std::array<uint32_t, kBuckets> exponents{};
};

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SONDE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define SONDE_WIDE
#endif

constexpr float kHalfMax = 65504, kBfloatMax = 3.38953139e38f, kFloat8Max = 448;

// One block of finite values.
struct Block {
  float min = std::numeric_limits<float>::infinity(), max = -min;
  double sum = 0, squares = 0;
  uint32_t negative = 0, zero = 0, half = 0, float8 = 0, subnormal = 0;
};

constexpr size_t kLanes = 16;

// Sums of one block, a lane each: nothing has to be reordered to make vectors of the loops.
struct Lanes {
  alignas(64) float sum[kLanes] = {}, squares[kLanes] = {};
  alignas(64) float min[kLanes], max[kLanes];
  alignas(64) uint32_t negative[kLanes] = {}, zero[kLanes] = {}, half[kLanes] = {};
  alignas(64) uint32_t float8[kLanes] = {}, small[kLanes] = {};
};

SONDE_WIDE bool is_finite_block(const float* values, size_t count) {
  alignas(64) uint32_t worst[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint32_t bits;
      std::memcpy(&bits, values + i + lane, sizeof bits);
      bits &= 0x7fffffffu;
      worst[lane] = bits > worst[lane] ? bits : worst[lane];
    }
  }
  for (; i < count; ++i)
    worst[0] = std::max(worst[0], std::bit_cast<uint32_t>(values[i]) & 0x7fffffffu);
  return *std::max_element(worst, worst + kLanes) < 0x7f800000u;
}

SONDE_WIDE void add_lanes(Lanes& all, const float* values, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = values[i + lane];
      const float size = std::fabs(value);
      all.sum[lane] += value;
      all.squares[lane] += value * value;
      all.min[lane] = value < all.min[lane] ? value : all.min[lane];
      all.max[lane] = value > all.max[lane] ? value : all.max[lane];
      all.negative[lane] += value < 0 ? 1u : 0u;
      all.zero[lane] += value == 0 ? 1u : 0u;
      all.half[lane] += size > kHalfMax ? 1u : 0u;
      all.float8[lane] += size > kFloat8Max ? 1u : 0u;
      all.small[lane] += size < std::numeric_limits<float>::min() ? 1u : 0u;
    }
  }
}

void add_finite(Stats& stats, const float* values, size_t count) {
  Block block;
  const size_t even = count / kLanes * kLanes;
  if (even > 0) {
    Lanes all;
    std::fill_n(all.min, kLanes, std::numeric_limits<float>::infinity());
    std::fill_n(all.max, kLanes, -std::numeric_limits<float>::infinity());
    add_lanes(all, values, even);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      block.sum += static_cast<double>(all.sum[lane]);
      block.squares += static_cast<double>(all.squares[lane]);
      block.min = std::min(block.min, all.min[lane]);
      block.max = std::max(block.max, all.max[lane]);
      block.negative += all.negative[lane];
      block.zero += all.zero[lane];
      block.half += all.half[lane];
      block.float8 += all.float8[lane];
      block.subnormal += all.small[lane];
    }
  }
  for (size_t i = even; i < count; ++i) {
    const float value = values[i];
    const float size = std::fabs(value);
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
    add_finite(stats, &value, 1);
  }
}

void add_block(Stats& stats, const float* values, size_t count, bool with_histogram) {
  stats.size += static_cast<double>(count);
  if (is_finite_block(values, count)) {
    add_finite(stats, values, count);
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
  constexpr size_t kBlock = 4096;
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

using AnyTensor = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

// (size, -inf, +inf, nan, negative, zero, positive, rms, min, max, mean, subnormal, beyond fp16,
// bf16, fp8, exponents); None for types that are no floating point numbers.
nb::object tensor_stats(const AnyTensor& tensor, bool with_histogram) {
  Stats stats;
  const size_t count = tensor.size();
  const auto type = tensor.dtype();
  const bool is_float = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float);
  const bool is_bfloat = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat);
  if (type.lanes != 1 || !(is_float || is_bfloat)) return nb::none();
  {
    const nb::gil_scoped_release release;
    if (is_bfloat && type.bits == 16) {
      add_converted(stats, static_cast<const uint16_t*>(tensor.data()), count, with_histogram,
                    event::bfloat16_to_float);
    } else if (is_float && type.bits == 16) {
      add_converted(stats, static_cast<const uint16_t*>(tensor.data()), count, with_histogram,
                    event::half_to_float);
    } else if (is_float && type.bits == 32) {
      constexpr size_t kBlock = 1 << 16;
      for (size_t at = 0; at < count; at += kBlock)
        add_block(stats, static_cast<const float*>(tensor.data()) + at,
                  std::min(kBlock, count - at), with_histogram);
    } else if (is_float && type.bits == 64) {
      add_doubles(stats, static_cast<const double*>(tensor.data()), count, with_histogram);
    }
  }
  const double finite = stats.negative + stats.zero + stats.positive;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto share = [&](double n) { return stats.size > 0 ? n / stats.size : 0; };
  nb::list exponents;
  if (with_histogram) {
    for (const uint32_t n : stats.exponents) exponents.append(n);
  }
  return nb::make_tuple(
      stats.size, stats.neg_inf, stats.pos_inf, stats.nan, stats.negative, stats.zero,
      stats.positive, finite > 0 ? std::sqrt(stats.squares / finite) : nothing,
      finite > 0 ? stats.min : nothing, finite > 0 ? stats.max : nothing,
      finite > 0 ? stats.sum / finite : nothing, share(stats.subnormal), share(stats.beyond_fp16),
      share(stats.beyond_bf16), share(stats.beyond_fp8), exponents);
}

void append_frame(std::string& out, std::string_view payload) {
  const size_t at = out.size();
  out.resize(at + payload.size() + writer::kFrameHead + writer::kFrameTail);
  std::memcpy(out.data() + at + writer::kFrameHead, payload.data(), payload.size());
  writer::frame(out.data() + at, payload.size());
}

nb::bytes frames(const nb::list& payloads) {
  std::string out;
  for (const nb::handle item : payloads) {
    const auto payload = nb::cast<nb::bytes>(item);
    append_frame(out, {payload.c_str(), payload.size()});
  }
  return nb::bytes(out.data(), out.size());
}

// Graph-execution traces in mode FULL_HEALTH, framed; a row is (graph, op, slot, tensor id, dtype,
// rank, step, wall time, stats).
nb::bytes trace_frames(const nb::list& rows) {
  std::string out, payload, body, vector;
  const auto number = [](const nb::tuple& stats, size_t i) { return nb::cast<double>(stats[i]); };
  const auto single = [](double value) {
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::isnan(value) ? value : std::clamp(value, -kMost, kMost));
  };
  for (const nb::handle item : rows) {
    const auto row = nb::cast<nb::tuple>(item);
    const auto stats = nb::cast<nb::tuple>(row[8]);
    std::array<double, 11> health{nb::cast<double>(row[3]), 0, nb::cast<double>(row[4]),
                                  nb::cast<double>(row[5])};
    for (size_t i = 0; i < 7; ++i) health[4 + i] = number(stats, i);
    std::array<float, 8> numbers;
    for (size_t i = 0; i < 8; ++i) numbers[i] = single(number(stats, 7 + i));
    const auto bytes_of = [](const auto& list) {
      return std::string_view(reinterpret_cast<const char*>(list.data()), sizeof list);
    };
    body.clear();
    wire::Encoder trace(body);
    trace.bytes(1, nb::cast<nb::str>(row[0]).c_str());
    trace.bytes(2, nb::cast<nb::str>(row[1]).c_str());
    if (const auto slot = nb::cast<uint64_t>(row[2])) trace.varint(3, slot);
    trace.varint(4, 4);
    trace.message(5, [&](wire::Encoder& tensor) {
      tensor.varint(1, 2);
      tensor.message(2, [](wire::Encoder& shape) {
        shape.message(2, [](wire::Encoder& dim) { dim.varint(1, 11); });
      });
      tensor.bytes(4, bytes_of(health));
    });
    trace.bytes(6, "/device:CPU:0");
    trace.bytes(30, bytes_of(numbers));
    const auto exponents = nb::cast<nb::list>(stats[15]);
    if (nb::len(exponents) > 0) {
      std::string packed;
      wire::Encoder counts(packed);
      for (const nb::handle count : exponents) counts.raw_varint(nb::cast<uint64_t>(count));
      trace.bytes(31, packed);
    }
    payload.clear();
    wire::Encoder event(payload);
    event.real(1, nb::cast<double>(row[7]));
    event.varint(2, nb::cast<uint64_t>(row[6]));
    event.bytes(10, body);
    append_frame(out, payload);
  }
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_debug(nb::module_& m) {
  m.def("trace_frames", trace_frames, nb::arg("rows"));
  m.def("frames", frames, nb::arg("payloads"));
  m.def("tensor_stats", tensor_stats, nb::arg("tensor"), nb::arg("with_histogram") = false);
}

}  // namespace sonde::python
