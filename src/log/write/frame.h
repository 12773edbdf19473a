// One TFRecord frame built in place: length, masked checksum of the length, payload, masked
// checksum of the payload. The caller has put the payload where it belongs; this fills in the rest.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace sonde::writer {

inline constexpr size_t kFrameHead = 12;
inline constexpr size_t kFrameTail = 4;

// Checksum of the 8 length bytes. Scalars all have short payloads, so those are looked up.
inline uint32_t length_crc(uint64_t length) {
  constexpr size_t kTable = 512;
  static const std::array<uint32_t, kTable> table = [] {
    std::array<uint32_t, kTable> made{};
    for (uint64_t n = 0; n < kTable; ++n)
      made[n] = masked_crc32c({reinterpret_cast<const std::byte*>(&n), sizeof n});
    return made;
  }();
  if (length < kTable) return table[length];
  return masked_crc32c({reinterpret_cast<const std::byte*>(&length), sizeof length});
}

// Frames the payload of `length` bytes that stands at at[kFrameHead].
inline void frame(char* at, uint64_t length) {
  const uint32_t head = length_crc(length);
  const uint32_t body =
      masked_crc32c({reinterpret_cast<const std::byte*>(at + kFrameHead), length});
  std::memcpy(at, &length, 8);
  std::memcpy(at + 8, &head, 4);
  std::memcpy(at + kFrameHead + length, &body, 4);
}

}  // namespace sonde::writer
