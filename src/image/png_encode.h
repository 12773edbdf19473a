// Pixels to PNG by libpng, set for speed: zlib level 1 with the Sub filter is about four times
// cheaper than the library's defaults and a tenth larger on photographs (docs/bench.md, Writers).
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::image {

// 8-bit rows without gaps; 1 to 4 channels mean grey, grey + alpha, RGB, RGBA.
struct Pixels {
  Bytes data;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 3;
};

Result<std::string> encode_png(const Pixels& pixels);

}  // namespace sonde::image
