// Pixels to PNG: one of three cheap filters a row, compressed by libdeflate at level 1, which is
// several times quicker than libpng with zlib's default level and about as small on photographs
// (docs/bench.md, Writers).
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
