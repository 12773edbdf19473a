#include "whatif/sprite.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "image/png_encode.h"
#include "image/thumbnail.h"

namespace sonde::whatif {

Result<std::string> sprite_of(const Column& images, const std::vector<uint32_t>& rows) {
  const auto side =
      static_cast<uint32_t>(std::max(1.0, std::ceil(std::sqrt(static_cast<double>(rows.size())))));
  const uint32_t width = side * kThumbnail;
  std::string pixels(size_t{width} * width * 3, '\0');
  for (uint32_t at = 0; at < rows.size(); ++at) {
    const uint32_t code = images.code(rows[at]);
    if (code == kMissing) continue;
    const auto decoded = image::decode(as_bytes(images.words[code]));
    if (!decoded) continue;
    const uint32_t left = at % side * kThumbnail, top = at / side * kThumbnail;
    // The nearest pixel: the original's thumbnails are squares whatever the image's shape.
    for (uint32_t y = 0; y < kThumbnail; ++y) {
      for (uint32_t x = 0; x < kThumbnail; ++x) {
        const uint64_t from_x = uint64_t{x} * decoded->width / kThumbnail;
        const uint64_t from_y = uint64_t{y} * decoded->height / kThumbnail;
        const char* from =
            decoded->bytes.data() + (from_y * decoded->width + from_x) * decoded->channels;
        std::copy_n(from, 3, pixels.data() + (size_t{top + y} * width + left + x) * 3);
      }
    }
  }
  return image::encode_png({as_bytes(pixels), width, width, 3});
}

}  // namespace sonde::whatif
