// Vectors of floats as wide as the processor has, chosen at run time. A kernel is written once as a
// function template over the number of lanes; SONDE_KERNEL makes name_widest(), which calls the
// widest. GCC's target_clones is not enough: it lowers vectors to the default width before it makes
// the clones.
//
//   template <int N> SONDE_INLINE float sum(const float* p, size_t n) { simd::Lanes<N> total = {};
//   ... } SONDE_KERNEL(float, sum, (const float* p, size_t n), (p, n))   // defines sum_widest(p,
//   n)
#pragma once

#include <cstring>

namespace sonde::simd {

template <int N>
struct Vector {
  typedef float type __attribute__((vector_size(N * sizeof(float)), aligned(4), may_alias));
};
template <int N>
using Lanes = typename Vector<N>::type;

enum class Width : unsigned char { kPlain, k8, k16 };

inline Width widest() {
#if defined(__x86_64__)
  static const Width width =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? Width::k16
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")       ? Width::k8
                                                                              : Width::kPlain;
  return width;
#else
  return Width::kPlain;
#endif
}

}  // namespace sonde::simd

#define SONDE_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
// NOLINTBEGIN(bugprone-macro-parentheses): a type and lists with parentheses of their own
#define SONDE_KERNEL(type, name, parameters, arguments)                                            \
  __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"))) static type name##_16 parameters { \
    return name<16> arguments;                                                                     \
  }                                                                                                \
  __attribute__((target("avx2,fma"))) static type name##_8 parameters {                            \
    return name<8> arguments;                                                                      \
  }                                                                                                \
  static type name##_widest parameters {                                                           \
    switch (::sonde::simd::widest()) {                                                             \
      case ::sonde::simd::Width::k16:                                                              \
        return name##_16 arguments;                                                                \
      case ::sonde::simd::Width::k8:                                                               \
        return name##_8 arguments;                                                                 \
      default:                                                                                     \
        return name<4> arguments;                                                                  \
    }                                                                                              \
  }
// NOLINTEND(bugprone-macro-parentheses)
#else
#define SONDE_KERNEL(type, name, parameters, arguments) \
  static type name##_widest parameters { return name<4> arguments; }
#endif
