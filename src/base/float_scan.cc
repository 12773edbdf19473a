#include "base/float_scan.h"

#include <algorithm>
#include <cstring>

#include "base/simd.h"

namespace sonde {
namespace {

constexpr int kLanes = 16;  // sums of element i go to lane i % 16, however wide a vector is

template <int N>
struct Doubles {
  typedef double type __attribute__((vector_size(N * sizeof(double))));
};

// One vector of N lanes and what it has seen.
template <int N>
struct Part {
  simd::Lanes<N> low, high, odd = {};
  typename Doubles<N>::type sum = {}, squares = {};

  SONDE_INLINE Part() {
    const FloatScan none;
    low = high = simd::Lanes<N>{};
    low += none.low;
    high += none.high;
  }
  SONDE_INLINE void see(const float* p) {
    simd::Lanes<N> x;
    std::memcpy(&x, p, sizeof x);
    low = x < low ? x : low;
    high = x > high ? x : high;
    odd += x - x;  // NaN exactly for what is not finite
    const auto wide = __builtin_convertvector(x, typename Doubles<N>::type);
    sum += wide;
    squares += wide * wide;  // exact, so that a fused addition gives the same
  }
};

void see_one(float x, FloatScan& out) {
  out.low = x < out.low ? x : out.low;
  out.high = x > out.high ? x : out.high;
  out.finite = out.finite && x - x == 0;
}

template <int N>
SONDE_INLINE void scan_kernel(const float* data, size_t n, FloatScan& out) {
  constexpr int kParts = kLanes / N;
  Part<N> parts[kParts];
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int p = 0; p < kParts; ++p) parts[p].see(data + i + p * N);
  for (const Part<N>& part : parts) {
    for (int k = 0; k < N; ++k) {
      out.low = std::min(out.low, part.low[k]);
      out.high = std::max(out.high, part.high[k]);
      out.finite = out.finite && part.odd[k] == 0;
      out.sum += part.sum[k];
      out.sum_squares += part.squares[k];
    }
  }
  for (; i < n; ++i) {
    see_one(data[i], out);
    out.sum += data[i];
    out.sum_squares += static_cast<double>(data[i]) * data[i];
  }
}

SONDE_KERNEL(void, scan_kernel, (const float* data, size_t n, FloatScan& out), (data, n, out))

}  // namespace

FloatScan scan_floats(const float* data, size_t n) {
  FloatScan out;
  scan_kernel_widest(data, n, out);
  return out;
}

FloatScan scan_floats_plain(const float* data, size_t n) {
  FloatScan out;
  double sum[kLanes] = {}, squares[kLanes] = {};
  const size_t whole = n - n % kLanes;
  for (size_t i = 0; i < whole; ++i) {
    see_one(data[i], out);
    sum[i % kLanes] += data[i];
    squares[i % kLanes] += static_cast<double>(data[i]) * data[i];
  }
  for (int k = 0; k < kLanes; ++k) {
    out.sum += sum[k];
    out.sum_squares += squares[k];
  }
  for (size_t i = whole; i < n; ++i) {
    see_one(data[i], out);
    out.sum += data[i];
    out.sum_squares += static_cast<double>(data[i]) * data[i];
  }
  return out;
}

}  // namespace sonde
