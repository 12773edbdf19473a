#include "image/sniff.h"

#include <doctest/doctest.h>

#include <string>

#include "image/png_encode.h"
#include "image/thumbnail.h"

namespace sonde::image {
namespace {

using namespace std::string_literals;

}  // namespace

TEST_CASE("sniff: format and size from the first bytes") {
  struct Case {
    std::string bytes;
    std::string_view mime;
    uint32_t width, height;
  };
  const std::string webp_head = "RIFF\x24\0\0\0WEBP"s;
  const Case cases[] = {
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x80\x08\2\0\0\0"s, "image/png", 256, 128},
      {"\x89PNG\r\n\x1a\n"s, "image/png", 0, 0},
      {"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc0\0\x11\x08\0\x20\0\x30\3"s, "image/jpeg", 48, 32},
      {"\xff\xd8\xff\xe0\xff\xff"s, "image/jpeg", 0, 0},
      {"GIF89a\x0a\0\x05\0"s, "image/gif", 10, 5},
      {"GIF89a"s, "image/gif", 0, 0},
      {webp_head + "VP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x07\0\0"s, "image/webp", 16, 8},
      {"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x07\0\0\0\xfb\xff\xff\xff\1\0"s, "image/bmp", 7, 5},
      {"  <svg xmlns='x'>", "image/svg+xml", 0, 0},
      {"<?xml version='1.0'?><!-- c --><svg>", "image/svg+xml", 0, 0},
  };
  for (const Case& c : cases) {
    const auto header = sniff(as_bytes(c.bytes));
    CAPTURE(c.mime);
    REQUIRE(header);
    CHECK(header->mime == c.mime);
    CHECK(header->width == c.width);
    CHECK(header->height == c.height);
    for (size_t n = 0; n < c.bytes.size(); ++n) (void)sniff(as_bytes(c.bytes).first(n));
  }
  for (const std::string& bytes : {""s, "hello"s, "<html><svg>"s, "RIFF\0\0\0\0WAVE"s, "\0\0"s})
    CHECK(!sniff(as_bytes(bytes)));
}

TEST_CASE("thumbnail: areas are averaged, the shape is kept, bombs are refused") {
  std::string pixels;  // 4 x 2: left half black, right half white
  for (int y = 0; y < 2; ++y) pixels += std::string(6, '\0') + std::string(6, '\xff');
  const std::string png = *encode_png({as_bytes(pixels), 4, 2, 3});
  const auto small = decode(as_bytes(*thumbnail(as_bytes(png), 2)));
  REQUIRE(small);
  CHECK(small->width == 2);
  CHECK(small->height == 1);
  CHECK(small->bytes.substr(0, 3) == std::string(3, '\0'));
  CHECK(small->bytes.substr(4, 3) == std::string(3, '\xff'));
  const auto grey = decode(as_bytes(*thumbnail(as_bytes(png), 1)));
  CHECK(static_cast<uint8_t>(grey->bytes[0]) == 128);

  std::string bomb = png;  // claims 60000 x 60000
  bomb.replace(16, 8, "\0\0\xea\x60\0\0\xea\x60"s);
  CHECK(!decode(as_bytes(bomb)));
  for (size_t n = 0; n < png.size(); ++n) (void)decode(as_bytes(png).first(n));
  CHECK(decode(as_bytes("GIF89a\1\0\1\0"s)).error().code == Code::kUnsupported);
  CHECK(decode(as_bytes("\xff\xd8\xff\xe0 no"s)).error().code == Code::kCorrupt);
}

}  // namespace sonde::image
