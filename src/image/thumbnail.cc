#include "image/thumbnail.h"

#include <csetjmp>
#include <cstdio>
// jpeglib.h needs the two above.
#include <fmt/format.h>
#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "image/png_encode.h"
#include "image/sniff.h"

namespace sonde::image {
namespace {

tl::unexpected<Error> too_large(uint64_t width, uint64_t height) {
  return fail(Code::kTooLarge, fmt::format("a picture of {}×{} pixels is too large to shrink; ask "
                                           "for it without w",
                                           width, height));
}

Result<Picture> decode_png(Bytes file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
    return fail(Code::kCorrupt, fmt::format("the PNG is damaged: {}", image.message));
  const std::unique_ptr<png_image, void (*)(png_image*)> freed(&image, png_image_free);
  if (uint64_t{image.width} * image.height > kMaxPixels)
    return too_large(image.width, image.height);
  image.format = PNG_FORMAT_RGBA;
  Picture picture{image.width, image.height, 4, {}};
  picture.bytes.resize(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, picture.bytes.data(), 0, nullptr))
    return fail(Code::kCorrupt, fmt::format("the PNG is damaged: {}", image.message));
  return picture;
}

// libjpeg reports by calling back and must not be returned to: the error jumps out of it.
struct JpegFault {
  jpeg_error_mgr manager;
  std::jmp_buf out;
  char text[JMSG_LENGTH_MAX];
};

void on_jpeg_fault(j_common_ptr info) {
  auto* fault = reinterpret_cast<JpegFault*>(info->err);
  info->err->format_message(info, fault->text);
  std::longjmp(fault->out, 1);
}

// Everything between setjmp and the end is plain data: nothing is skipped by the jump.
bool read_jpeg(jpeg_decompress_struct& info, JpegFault& fault, Bytes file, Picture& picture,
               bool& large) {
  if (setjmp(fault.out)) return false;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  large = uint64_t{info.image_width} * info.image_height > kMaxPixels;
  picture.width = info.image_width;
  picture.height = info.image_height;
  if (large) return true;
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  picture.channels = 3;
  picture.bytes.resize(size_t{3} * picture.width * picture.height);
  while (info.output_scanline < info.output_height) {
    auto* row = reinterpret_cast<JSAMPROW>(picture.bytes.data()) +
                size_t{3} * picture.width * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  return true;
}

Result<Picture> decode_jpeg(Bytes file) {
  jpeg_decompress_struct info{};
  JpegFault fault{};
  info.err = jpeg_std_error(&fault.manager);
  fault.manager.error_exit = on_jpeg_fault;
  fault.manager.emit_message = [](j_common_ptr, int) {};  // warnings are not for a terminal
  jpeg_create_decompress(&info);
  Picture picture;
  bool large = false;
  const bool read = read_jpeg(info, fault, file, picture, large);
  jpeg_destroy_decompress(&info);
  if (!read) return fail(Code::kCorrupt, fmt::format("the JPEG is damaged: {}", fault.text));
  if (large) return too_large(picture.width, picture.height);
  return picture;
}

}  // namespace

Result<Picture> decode(Bytes file) {
  const auto header = sniff(file);
  if (header && header->mime == "image/png") return decode_png(file);
  if (header && header->mime == "image/jpeg") return decode_jpeg(file);
  return fail(Code::kUnsupported, "only PNG and JPEG can be shrunk");
}

Picture shrunk(const Picture& picture, uint32_t width) {
  if (width == 0 || width >= picture.width || picture.height == 0) return picture;
  Picture small{width, 0, picture.channels, {}};
  small.height = std::max<uint32_t>(
      1, static_cast<uint32_t>(uint64_t{picture.height} * width / picture.width));
  const size_t channels = picture.channels;
  small.bytes.resize(channels * small.width * small.height);
  const auto* in = reinterpret_cast<const uint8_t*>(picture.bytes.data());
  auto* out = reinterpret_cast<uint8_t*>(small.bytes.data());
  for (uint32_t y = 0; y < small.height; ++y) {
    const uint64_t y0 = uint64_t{y} * picture.height / small.height;
    const uint64_t y1 = std::max(y0 + 1, uint64_t{y + 1} * picture.height / small.height);
    for (uint32_t x = 0; x < small.width; ++x) {
      const uint64_t x0 = uint64_t{x} * picture.width / small.width;
      const uint64_t x1 = std::max(x0 + 1, uint64_t{x + 1} * picture.width / small.width);
      uint64_t sums[4] = {0, 0, 0, 0};
      for (uint64_t row = y0; row < y1; ++row) {
        const uint8_t* p = in + (row * picture.width + x0) * channels;
        for (uint64_t column = x0; column < x1; ++column) {
          for (size_t c = 0; c < channels; ++c) sums[c] += *p++;
        }
      }
      const uint64_t area = (y1 - y0) * (x1 - x0);
      for (size_t c = 0; c < channels; ++c)
        *out++ = static_cast<uint8_t>((sums[c] + area / 2) / area);
    }
  }
  return small;
}

Result<std::string> thumbnail(Bytes file, uint32_t width) {
  SONDE_TRY(const picture, decode(file));
  const Picture small = shrunk(picture, width);
  return encode_png({as_bytes(small.bytes), small.width, small.height, small.channels});
}

}  // namespace sonde::image
