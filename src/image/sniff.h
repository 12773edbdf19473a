// What kind of picture some bytes are and how large, from their first few kilobytes. Believes
// nothing else: names and types that travel beside a picture are often wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace sonde::image {

struct Header {
  std::string_view mime;           // "image/png" ...
  uint32_t width = 0, height = 0;  // 0 when the bytes at hand do not say
};

// PNG, JPEG, GIF, BMP, WebP and SVG; nothing when it is none of them.
std::optional<Header> sniff(Bytes head);

}  // namespace sonde::image
