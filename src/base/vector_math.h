// Dot products and distances of float vectors, the inner loop of neighbours and projections.
// Compiled for several processors and chosen at run time; the plain version is the reference of the
// test.
#pragma once

#include <cstddef>

namespace sonde {

float dot(const float* a, const float* b, size_t n);
float squared_distance(const float* a, const float* b, size_t n);

// out[i * 4 + j] = dot(a[i], b[j]): sixteen products with each element loaded once for four of
// them.
void dot_4x4(const float* const a[4], const float* const b[4], size_t n, float out[16]);

// The plain versions, public for the test only.
float dot_plain(const float* a, const float* b, size_t n);
float squared_distance_plain(const float* a, const float* b, size_t n);

}  // namespace sonde
