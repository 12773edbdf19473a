#include "base/vector_math.h"

#include "base/simd.h"

namespace sonde {
namespace {

using simd::Lanes;

template <int N>
SONDE_INLINE float sum_of(const Lanes<N>& lanes) {
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += lanes[k];
  return sum;
}

template <int N>
SONDE_INLINE const Lanes<N>& at(const float* p) {
  return *reinterpret_cast<const Lanes<N>*>(p);  // aligned(4) and may_alias make this legal
}

// Two sums, since one would wait for the latency of each addition.
template <int N>
SONDE_INLINE float dot_kernel(const float* a, const float* b, size_t n) {
  Lanes<N> first = {}, second = {};
  size_t i = 0;
  for (; i + 2 * N <= n; i += 2 * N) {
    first += at<N>(a + i) * at<N>(b + i);
    second += at<N>(a + i + N) * at<N>(b + i + N);
  }
  first += second;
  float total = sum_of<N>(first);
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

template <int N>
SONDE_INLINE float distance_kernel(const float* a, const float* b, size_t n) {
  Lanes<N> first = {}, second = {};
  size_t i = 0;
  for (; i + 2 * N <= n; i += 2 * N) {
    const Lanes<N> x = at<N>(a + i) - at<N>(b + i), y = at<N>(a + i + N) - at<N>(b + i + N);
    first += x * x;
    second += y * y;
  }
  first += second;
  float total = sum_of<N>(first);
  for (; i < n; ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  return total;
}

template <int N>
SONDE_INLINE void tile_kernel(const float* const* a, const float* const* b, size_t n, float* out) {
  // Two rows of a at a time: eight sums fit the registers of every width.
  for (int half = 0; half < 4; half += 2) {
    Lanes<N> sums[8] = {};
    size_t k = 0;
    for (; k + N <= n; k += N) {
      const Lanes<N> x0 = at<N>(a[half] + k), x1 = at<N>(a[half + 1] + k);
      for (int j = 0; j < 4; ++j) {
        const Lanes<N> y = at<N>(b[j] + k);
        sums[j] += x0 * y;
        sums[4 + j] += x1 * y;
      }
    }
    for (int i = 0; i < 8; ++i) {
      float total = sum_of<N>(sums[i]);
      const float *x = a[half + i / 4], *y = b[i % 4];
      for (size_t r = k; r < n; ++r) total += x[r] * y[r];
      out[half * 4 + i] = total;
    }
  }
}

SONDE_KERNEL(float, dot_kernel, (const float* a, const float* b, size_t n), (a, b, n))
SONDE_KERNEL(float, distance_kernel, (const float* a, const float* b, size_t n), (a, b, n))
SONDE_KERNEL(void, tile_kernel,
             (const float* const* a, const float* const* b, size_t n, float* out), (a, b, n, out))

}  // namespace

float dot(const float* a, const float* b, size_t n) { return dot_kernel_widest(a, b, n); }

float squared_distance(const float* a, const float* b, size_t n) {
  return distance_kernel_widest(a, b, n);
}

void dot_4x4(const float* const a[4], const float* const b[4], size_t n, float out[16]) {
  tile_kernel_widest(a, b, n, out);
}

float dot_plain(const float* a, const float* b, size_t n) {
  float total = 0;
  for (size_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

float squared_distance_plain(const float* a, const float* b, size_t n) {
  float total = 0;
  for (size_t i = 0; i < n; ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  return total;
}

}  // namespace sonde
