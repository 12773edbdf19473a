// CRC-32C (Castagnoli), the checksum of every record, and the masked form that files store.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sonde {

// Extends `crc` (0 to begin with) over `bytes`: crc32c(ab) == crc32c(b, crc32c(a)).
uint32_t crc32c(Bytes bytes, uint32_t crc = 0);

// The table version that crc32c falls back to without the instruction; public for the test only.
uint32_t crc32c_plain(Bytes bytes, uint32_t crc = 0);

// Rotated and offset the way TFRecord stores it, so that a checksum of data holding checksums
// differs.
constexpr uint32_t mask_crc(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

inline uint32_t masked_crc32c(Bytes bytes) { return mask_crc(crc32c(bytes)); }

}  // namespace sonde
