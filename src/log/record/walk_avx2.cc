// walk_frames with the checksum instruction in line: most records are shorter than a cache line or
// two, and calling a function for each would cost as much as the checksum. Compiled for processors
// with AVX2 (all of them have the instruction), chosen at run time; nothing in this file may come
// from a header that other files share.
#include "log/record/walk_kernel.h"

#if defined(__x86_64__)
#include <nmmintrin.h>

namespace sonde::record {
namespace {

inline uint64_t word_at(const uint8_t* p) {
  uint64_t word;
  __builtin_memcpy(&word, p, 8);
  return word;
}
inline uint32_t half_at(const uint8_t* p) {
  uint32_t word;
  __builtin_memcpy(&word, p, 4);
  return word;
}

inline uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// CRC-32C of a short payload, masked.
inline uint32_t checksum(const uint8_t* p, uint64_t n) {
  uint64_t crc = 0xffffffffu;
  for (; n >= 8; p += 8, n -= 8) crc = _mm_crc32_u64(crc, word_at(p));
  auto rest = static_cast<uint32_t>(crc);
  if (n & 4) {
    rest = _mm_crc32_u32(rest, half_at(p));
    p += 4;
  }
  if (n & 2) {
    uint16_t word;
    __builtin_memcpy(&word, p, 2);
    rest = _mm_crc32_u16(rest, word);
    p += 2;
  }
  if (n & 1) rest = _mm_crc32_u8(rest, *p);
  return masked(~rest);
}

}  // namespace

KernelWalk walk_kernel_avx2(const uint8_t* window, size_t size, size_t at, uint64_t large,
                            FrameSpan* frames, size_t capacity) {
  size_t count = 0;
  while (count < capacity) {
    const uint8_t* p = window + at;
    if (size - at < 16) return {KernelStop::kElsewhere, at, count};
    const uint64_t length = word_at(p);
    const auto crc = static_cast<uint32_t>(_mm_crc32_u64(0xffffffffu, length));
    if (masked(~crc) != half_at(p + 8)) return {KernelStop::kElsewhere, at, count};
    // Long payloads go through the interleaved checksum of base.
    if (length > large || length > kKernelMax || size - at - 16 < length)
      return {KernelStop::kElsewhere, at, count};
    if (checksum(p + 12, length) != half_at(p + 12 + length))
      return {KernelStop::kElsewhere, at, count};
    frames[count].at = static_cast<uint32_t>(at + 12);
    frames[count].length = static_cast<uint32_t>(length);
    ++count;
    at += length + 16;
  }
  return {KernelStop::kFull, at, count};
}

}  // namespace sonde::record
#endif
