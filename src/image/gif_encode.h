// Frames to an animated GIF: one palette of at most 256 colours for all frames (exact when the
// frames have no more, else by median cut), LZW as the format prescribes. Loops for ever.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::image {

struct Frames {
  Bytes data;  // frames of rows of pixels, 8 bit, no gaps
  uint32_t count = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 3;  // 1, 3 or 4 (alpha is ignored)
  double frames_per_s = 4;
};

Result<std::string> encode_gif(const Frames& frames);

}  // namespace sonde::image
