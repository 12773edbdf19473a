// Record files that were compressed as a whole (TFRecordOptions GZIP and ZLIB, or a plain `gzip`).
// Inflated as a stream: going back starts over, memory stays constant.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"

namespace sonde::io {

enum class Compression : uint8_t { kNone, kGzip, kZlib };

// By the first bytes; needs two of them.
Compression sniff_compression(Bytes head);

// A source of the inflated bytes. It ends where the stream ends, is cut off or stops making sense.
Result<std::unique_ptr<Source>> open_inflating(std::unique_ptr<Source> compressed,
                                               Compression kind);

}  // namespace sonde::io
