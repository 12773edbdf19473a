// Record files that were compressed as a whole (TFRecordOptions GZIP and ZLIB, or a plain `gzip`).
// Inflated as a stream: going back starts over, memory stays constant.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"

namespace sonde::io {

enum class Compression : uint8_t { kNone, kGzip, kZlib };

// Real captures and logs shrink by 5 to 50; a file of zeros by 1000. Beyond kMinBombBytes more than
// this is taken for an attack on memory and time and not unpacked further.
inline constexpr uint64_t kMaxRatio = 250, kMinBombBytes = uint64_t{64} << 20;
constexpr uint64_t most_unpacked_bytes(uint64_t packed_bytes) {
  return packed_bytes > kMinBombBytes / kMaxRatio ? packed_bytes * kMaxRatio : kMinBombBytes;
}

// By the first bytes; needs two of them.
Compression sniff_compression(Bytes head);

// A source of the inflated bytes. It ends where the stream ends, is cut off or stops making sense.
Result<std::unique_ptr<Source>> open_inflating(std::unique_ptr<Source> compressed,
                                               Compression kind);

}  // namespace sonde::io
