#include "image/sniff.h"

#include <string>

namespace sonde::image {
namespace {

uint32_t byte_at(Bytes b, size_t at) { return static_cast<uint32_t>(b[at]); }
uint32_t big16(Bytes b, size_t at) { return byte_at(b, at) << 8 | byte_at(b, at + 1); }
uint32_t big32(Bytes b, size_t at) { return big16(b, at) << 16 | big16(b, at + 2); }
uint32_t little16(Bytes b, size_t at) { return load<uint16_t>(b, at); }
uint32_t little24(Bytes b, size_t at) { return little16(b, at) | byte_at(b, at + 2) << 16; }

Header png(Bytes b) {
  Header header{"image/png", 0, 0};
  if (b.size() < 24 || as_text(b.subspan(12, 4)) != "IHDR") return header;
  header.width = big32(b, 16);
  header.height = big32(b, 20);
  return header;
}

// Walks the segments up to the frame header, which may come after large tables and thumbnails.
Header jpeg(Bytes b) {
  Header header{"image/jpeg", 0, 0};
  size_t at = 2;
  while (at + 4 <= b.size()) {
    if (byte_at(b, at) != 0xff) return header;
    const uint32_t marker = byte_at(b, at + 1);
    if (marker == 0xff) {  // fill
      ++at;
      continue;
    }
    if ((marker >= 0xd0 && marker <= 0xd7) || marker == 0x01) {  // no length follows
      at += 2;
      continue;
    }
    const uint32_t length = big16(b, at + 2);
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) {
      if (at + 9 > b.size()) return header;
      header.height = big16(b, at + 5);
      header.width = big16(b, at + 7);
      return header;
    }
    if (length < 2 || marker == 0xd9 || marker == 0xda) return header;
    at += 2 + length;
  }
  return header;
}

Header webp(Bytes b) {
  Header header{"image/webp", 0, 0};
  if (b.size() < 30) return header;
  const std::string_view chunk = as_text(b.subspan(12, 4));
  if (chunk == "VP8 " && byte_at(b, 23) == 0x9d) {
    header.width = little16(b, 26) & 0x3fff;
    header.height = little16(b, 28) & 0x3fff;
  } else if (chunk == "VP8L" && byte_at(b, 20) == 0x2f) {
    const uint32_t bits = load<uint32_t>(b, 21);
    header.width = (bits & 0x3fff) + 1;
    header.height = (bits >> 14 & 0x3fff) + 1;
  } else if (chunk == "VP8X") {
    header.width = little24(b, 24) + 1;
    header.height = little24(b, 27) + 1;
  }
  return header;
}

Header bmp(Bytes b) {
  Header header{"image/bmp", 0, 0};
  if (b.size() < 26) return header;
  if (load<uint32_t>(b, 14) == 12) {  // the first form has 16-bit sizes
    header.width = little16(b, 18);
    header.height = little16(b, 20);
    return header;
  }
  header.width = load<uint32_t>(b, 18);
  const auto height = static_cast<int64_t>(load<int32_t>(b, 22));  // negative: rows from the top
  header.height = static_cast<uint32_t>(height < 0 ? -height : height);
  return header;
}

bool is_svg(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r' || text[0] == '\n'))
    text.remove_prefix(1);
  if (text.starts_with("<svg")) return true;
  const bool xml =
      text.starts_with("<?xml") || text.starts_with("<!--") || text.starts_with("<!DOCTYPE svg");
  return xml && text.substr(0, 1024).find("<svg") != text.npos;
}

}  // namespace

std::optional<Header> sniff(Bytes head) {
  const std::string_view text = as_text(head);
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return png(head);
  if (text.starts_with("\xff\xd8\xff")) return jpeg(head);
  if (text.starts_with("GIF87a") || text.starts_with("GIF89a")) {
    if (head.size() < 10) return Header{"image/gif", 0, 0};
    return Header{"image/gif", little16(head, 6), little16(head, 8)};
  }
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP")
    return webp(head);
  if (text.starts_with("BM") && head.size() >= 14) return bmp(head);
  if (is_svg(text)) return Header{"image/svg+xml", 0, 0};
  return std::nullopt;
}

}  // namespace sonde::image
