// Small copies of pictures for lists: decodes PNG and JPEG, shrinks by averaging areas, encodes
// PNG. Pictures that claim to be larger than they may be are refused before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::image {

struct Picture {
  uint32_t width = 0, height = 0, channels = 0;  // 3 or 4 channels of 8 bits, rows without gaps
  std::string bytes;
};

inline constexpr uint64_t kMaxPixels = 64u << 20;

// kUnsupported for other formats, kTooLarge beyond kMaxPixels, kCorrupt when the bytes are broken.
Result<Picture> decode(Bytes file);

// At most `width` wide, never larger than it is.
Picture shrunk(const Picture& picture, uint32_t width);

// A PNG at most `width` wide.
Result<std::string> thumbnail(Bytes file, uint32_t width);

}  // namespace sonde::image
