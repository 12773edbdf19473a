#include "image/png_encode.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <array>
#include <memory>
#include <vector>

namespace sonde::image {
namespace {

void put_u32(std::string& out, uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(value >> shift));
}

// Length, type, data, CRC-32 of type and data.
void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put_u32(out, static_cast<uint32_t>(data.size()));
  const size_t at = out.size();
  out += type;
  out += data;
  put_u32(out, libdeflate_crc32(0, out.data() + at, out.size() - at));
}

// The row minus `before` at the same place, as PNG filters do; returns how much is left of it.
[[gnu::optimize("O3")]] uint64_t subtract(const uint8_t* row, const uint8_t* before, size_t n,
                                          uint8_t* out) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint8_t>(row[i] - before[i]);
    sum += out[i] < 128 ? out[i] : 256u - out[i];
  }
  return sum;
}

uint64_t weight(const uint8_t* row, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += row[i] < 128 ? row[i] : 256u - row[i];
  return sum;
}

// Every row with the filter (none, Sub, Up) that leaves the least: PNG's usual estimate.
std::vector<uint8_t> filtered(const Pixels& pixels) {
  const size_t stride = size_t{pixels.width} * pixels.channels, step = pixels.channels;
  const auto* data = reinterpret_cast<const uint8_t*>(pixels.data.data());
  std::vector<uint8_t> out((stride + 1) * pixels.height);
  std::vector<uint8_t> up(stride), shifted(stride, 0);
  for (size_t y = 0; y < pixels.height; ++y) {
    const uint8_t* row = data + y * stride;
    uint8_t* to = &out[y * (stride + 1)];
    std::copy(row, row + stride - step, shifted.begin() + static_cast<std::ptrdiff_t>(step));
    uint64_t least = subtract(row, shifted.data(), stride, to + 1);
    to[0] = 1;
    if (y > 0) {
      const uint64_t left = subtract(row, row - stride, stride, up.data());
      if (left < least) {
        least = left;
        to[0] = 2;
        std::copy(up.begin(), up.end(), to + 1);
      }
    }
    if (weight(row, stride) < least) {
      to[0] = 0;
      std::copy(row, row + stride, to + 1);
    }
  }
  return out;
}

}  // namespace

Result<std::string> encode_png(const Pixels& pixels) {
  if (pixels.channels < 1 || pixels.channels > 4 || pixels.width == 0 || pixels.height == 0 ||
      pixels.width > 0x7fffffff || pixels.height > 0x7fffffff ||
      pixels.data.size() != uint64_t{pixels.width} * pixels.height * pixels.channels)
    return fail(Code::kInvalid, fmt::format("an image of {} x {} with {} channels cannot be a PNG",
                                            pixels.width, pixels.height, pixels.channels));
  constexpr std::array<char, 5> kColor = {0, 0, 4, 2, 6};  // by channel count
  std::string header;
  put_u32(header, pixels.width);
  put_u32(header, pixels.height);
  header += {8, kColor[pixels.channels], 0, 0, 0};

  const std::vector<uint8_t> rows = filtered(pixels);
  struct Free {
    void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
  };
  const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(1));
  if (!compressor) return fail(Code::kTooLarge, "no memory to compress an image");
  std::string packed(libdeflate_zlib_compress_bound(compressor.get(), rows.size()), '\0');
  packed.resize(libdeflate_zlib_compress(compressor.get(), rows.data(), rows.size(), packed.data(),
                                         packed.size()));
  if (packed.size() > 0x7fffffff) return fail(Code::kTooLarge, "the image is too large for a PNG");
  std::string out = "\x89PNG\r\n\x1a\n";
  out.reserve(packed.size() + 128);
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace sonde::image
