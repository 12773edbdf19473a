#include "image/png_encode.h"

#include <fmt/format.h>
#include <png.h>

namespace sonde::image {
namespace {

struct Encoder {
  std::string out;
  std::string problem;
};

void append(png_structp png, png_bytep data, size_t size) {
  static_cast<Encoder*>(png_get_io_ptr(png))->out.append(reinterpret_cast<char*>(data), size);
}

void failed(png_structp png, png_const_charp text) {
  static_cast<Encoder*>(png_get_error_ptr(png))->problem = text;
  png_longjmp(png, 1);
}

// libpng leaves by longjmp: nothing with a destructor lives in here.
bool write_rows(png_structp png, png_infop info, const Pixels& pixels) {
  constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_compression_level(png, 1);
  png_set_filter(png, 0, PNG_FILTER_SUB);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(png, info, pixels.width, pixels.height, 8, kColors[pixels.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const size_t stride = size_t{pixels.width} * pixels.channels;
  for (uint32_t row = 0; row < pixels.height; ++row)
    png_write_row(png, reinterpret_cast<png_const_bytep>(pixels.data.data() + row * stride));
  png_write_end(png, info);
  return true;
}

}  // namespace

Result<std::string> encode_png(const Pixels& pixels) {
  if (pixels.channels < 1 || pixels.channels > 4 || pixels.width == 0 || pixels.height == 0 ||
      pixels.data.size() / pixels.channels / pixels.width != pixels.height)
    return fail(Code::kInvalid, fmt::format("an image of {} x {} with {} channels cannot be a PNG",
                                            pixels.width, pixels.height, pixels.channels));
  Encoder encoder;
  encoder.out.reserve(pixels.data.size() / 2 + 1024);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, failed,
                                            [](png_structp, png_const_charp) {});
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  bool written = false;
  if (info != nullptr) {
    png_set_write_fn(png, &encoder, append, [](png_structp) {});
    written = write_rows(png, info, pixels);
  }
  png_destroy_write_struct(&png, &info);
  if (!written) return fail(Code::kInvalid, "PNG: " + encoder.problem);
  return std::move(encoder.out);
}

}  // namespace sonde::image
