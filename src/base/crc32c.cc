// Three gears: the SSE4.2 or ARMv8 instruction over one lane for short inputs, three interleaved
// lanes joined by table shifts for long ones, slicing by eight where there is no instruction.
#include "base/crc32c.h"

#include <array>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace sonde {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78;
constexpr size_t kLane = 1024;  // bytes a lane of the interleaved loop, see shift_table()

using Table = std::array<uint32_t, 256>;

constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReversedPolynomial : 0);
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t k = 1; k < 8; ++k) {
      tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
    }
  }
  return tables;
}

constexpr auto kTables = make_tables();

uint32_t plain(const uint8_t* p, size_t n, uint32_t crc) {
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; n > 0; ++p, --n) crc = kTables[0][(crc ^ *p) & 0xff] ^ (crc >> 8);
  return crc;
}

// Tables that push a checksum over kLane zero bytes: CRC is linear, so each byte shifts on its own.
std::array<Table, 4> make_shift_tables() {
  std::array<Table, 4> tables{};
  const std::array<uint8_t, kLane> zeros{};
  for (uint32_t k = 0; k < 4; ++k) {
    for (uint32_t i = 0; i < 256; ++i) tables[k][i] = plain(zeros.data(), kLane, i << (8 * k));
  }
  return tables;
}

#if defined(__x86_64__)
#define SONDE_HARDWARE_CRC __attribute__((target("sse4.2")))
inline SONDE_HARDWARE_CRC uint32_t step8(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
inline SONDE_HARDWARE_CRC uint32_t step4(uint32_t crc, uint32_t word) {
  return _mm_crc32_u32(crc, word);
}
inline SONDE_HARDWARE_CRC uint32_t step1(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__ARM_FEATURE_CRC32)
#define SONDE_HARDWARE_CRC
inline uint32_t step8(uint32_t crc, uint64_t word) { return __crc32cd(crc, word); }
inline uint32_t step4(uint32_t crc, uint32_t word) { return __crc32cw(crc, word); }
inline uint32_t step1(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }
bool has_instruction() { return true; }
#endif

#ifdef SONDE_HARDWARE_CRC
inline uint64_t word_at(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

SONDE_HARDWARE_CRC uint32_t hardware(const uint8_t* p, size_t n, uint32_t crc) {
  static const auto shift_tables = make_shift_tables();
  const auto shift = [](uint32_t c) {
    return shift_tables[0][c & 0xff] ^ shift_tables[1][(c >> 8) & 0xff] ^
           shift_tables[2][(c >> 16) & 0xff] ^ shift_tables[3][c >> 24];
  };
  for (; n >= 3 * kLane; p += 3 * kLane, n -= 3 * kLane) {
    uint32_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      a = step8(a, word_at(p + i));
      b = step8(b, word_at(p + kLane + i));
      c = step8(c, word_at(p + 2 * kLane + i));
    }
    crc = shift(shift(a) ^ b) ^ c;
  }
  for (; n >= 8; p += 8, n -= 8) crc = step8(crc, word_at(p));
  if (n >= 4) {
    uint32_t half;
    std::memcpy(&half, p, 4);
    crc = step4(crc, half);
    p += 4;
    n -= 4;
  }
  for (; n > 0; ++p, --n) crc = step1(crc, *p);
  return crc;
}
#endif

}  // namespace

uint32_t crc32c_plain(Bytes bytes, uint32_t crc) {
  return ~plain(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), ~crc);
}

uint32_t crc32c(Bytes bytes, uint32_t crc) {
#ifdef SONDE_HARDWARE_CRC
  static const bool fast = has_instruction();
  if (fast) return ~hardware(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), ~crc);
#endif
  return crc32c_plain(bytes, crc);
}

}  // namespace sonde
