#include "image/gif_encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace sonde::image {
namespace {

using Color = std::array<uint8_t, 3>;

Color color_at(const Frames& frames, size_t pixel) {
  const auto* p = reinterpret_cast<const uint8_t*>(frames.data.data()) + pixel * frames.channels;
  if (frames.channels < 3) return {p[0], p[0], p[0]};
  return {p[0], p[1], p[2]};
}

uint32_t packed(const Color& c) { return uint32_t{c[0]} << 16 | uint32_t{c[1]} << 8 | c[2]; }

struct Counted {
  Color color;
  uint64_t count;
};

// A box of colours, cut in two along its widest channel at the median of its pixels.
struct Box {
  size_t begin, end;
  int widest = 0;
  uint32_t spread = 0;
};

void measure(Box& box, const std::vector<Counted>& colors) {
  for (int c = 0; c < 3; ++c) {
    uint8_t low = 255, high = 0;
    for (size_t i = box.begin; i < box.end; ++i) {
      low = std::min(low, colors[i].color[c]);
      high = std::max(high, colors[i].color[c]);
    }
    if (c == 0 || uint32_t(high - low) > box.spread) {
      box.spread = high - low;
      box.widest = c;
    }
  }
}

std::vector<Box> cut(std::vector<Counted>& colors) {
  std::vector<Box> boxes{{0, colors.size()}};
  measure(boxes[0], colors);
  while (boxes.size() < 256) {
    const auto best = std::max_element(
        boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.spread < b.spread; });
    if (best->spread == 0) break;
    const int channel = best->widest;
    const auto begin = colors.begin() + best->begin, end = colors.begin() + best->end;
    std::sort(begin, end, [&](const Counted& a, const Counted& b) {
      return a.color[channel] != b.color[channel] ? a.color[channel] < b.color[channel]
                                                  : packed(a.color) < packed(b.color);
    });
    uint64_t total = 0, half = 0;
    for (auto i = begin; i != end; ++i) total += i->count;
    size_t middle = best->begin + 1;
    for (size_t i = best->begin; i + 1 < best->end; ++i) {
      half += colors[i].count;
      middle = i + 1;
      if (half * 2 >= total) break;
    }
    Box right{middle, best->end};
    best->end = middle;
    measure(*best, colors);
    measure(right, colors);
    boxes.push_back(right);
  }
  return boxes;
}

struct Palette {
  std::vector<Color> colors;
  std::unordered_map<uint32_t, uint8_t> index;  // of every colour that occurs (reduced to 5 bits)
  bool exact = true;
};

Color reduced(const Color& c) {
  return {uint8_t(c[0] & 0xf8), uint8_t(c[1] & 0xf8), uint8_t(c[2] & 0xf8)};
}

Palette palette_of(const Frames& frames) {
  const size_t pixels = size_t{frames.count} * frames.width * frames.height;
  Palette palette;
  for (size_t i = 0; i < pixels && palette.colors.size() <= 256; ++i) {
    const Color c = color_at(frames, i);
    const auto next = static_cast<uint8_t>(palette.colors.size());
    if (palette.index.emplace(packed(c), next).second) palette.colors.push_back(c);
  }
  if (palette.colors.size() <= 256) return palette;
  palette = {};
  palette.exact = false;
  std::unordered_map<uint32_t, uint64_t> counts;
  for (size_t i = 0; i < pixels; ++i) ++counts[packed(reduced(color_at(frames, i)))];
  std::vector<Counted> colors;
  for (const auto& [rgb, count] : counts)
    colors.push_back({{uint8_t(rgb >> 16), uint8_t(rgb >> 8), uint8_t(rgb)}, count});
  std::sort(colors.begin(), colors.end(),
            [](const Counted& a, const Counted& b) { return packed(a.color) < packed(b.color); });
  for (const Box& box : cut(colors)) {
    std::array<uint64_t, 3> sum{};
    uint64_t total = 0;
    for (size_t i = box.begin; i < box.end; ++i) {
      for (int c = 0; c < 3; ++c) sum[c] += uint64_t{colors[i].color[c]} * colors[i].count;
      total += colors[i].count;
      palette.index[packed(colors[i].color)] = static_cast<uint8_t>(palette.colors.size());
    }
    const auto mean = [&](int c) { return uint8_t(std::min<uint64_t>(255, sum[c] / total + 4)); };
    palette.colors.push_back({mean(0), mean(1), mean(2)});
  }
  return palette;
}

// Codes of growing width packed into sub-blocks of at most 255 bytes.
class CodeStream {
 public:
  explicit CodeStream(std::string& out) : out_(out) {}
  void put(uint32_t code, int width) {
    bits_ |= uint64_t{code} << held_;
    held_ += width;
    while (held_ >= 8) {
      byte(static_cast<char>(bits_));
      bits_ >>= 8;
      held_ -= 8;
    }
  }
  void finish() {
    if (held_ > 0) byte(static_cast<char>(bits_));
    flush();
    out_.push_back(0);
  }

 private:
  void byte(char b) {
    block_.push_back(b);
    if (block_.size() == 255) flush();
  }
  void flush() {
    if (block_.empty()) return;
    out_.push_back(static_cast<char>(block_.size()));
    out_ += block_;
    block_.clear();
  }
  std::string& out_;
  std::string block_;
  uint64_t bits_ = 0;
  int held_ = 0;
};

// `child` is scratch of 4096 x 256, kept between frames: child[prefix][pixel] = code.
void lzw(std::string& out, const std::vector<uint8_t>& pixels, std::vector<int16_t>& child) {
  constexpr int kMinimum = 8;
  constexpr uint32_t kClear = 1 << kMinimum, kEnd = kClear + 1;
  out.push_back(kMinimum);
  CodeStream codes(out);
  child.assign(size_t{4096} * 256, -1);
  uint32_t next = kEnd + 1;
  int width = kMinimum + 1;
  codes.put(kClear, width);
  uint32_t prefix = pixels[0];
  for (size_t i = 1; i < pixels.size(); ++i) {
    int16_t& found = child[prefix * 256 + pixels[i]];
    if (found >= 0) {
      prefix = static_cast<uint32_t>(found);
      continue;
    }
    codes.put(prefix, width);
    if (next < 4096) {
      if (next == (1u << width)) ++width;
      found = static_cast<int16_t>(next++);
    } else {
      codes.put(kClear, width);
      std::fill(child.begin(), child.end(), int16_t{-1});
      next = kEnd + 1;
      width = kMinimum + 1;
    }
    prefix = pixels[i];
  }
  codes.put(prefix, width);
  if (next == (1u << width) && width < 12) ++width;
  codes.put(kEnd, width);
  codes.finish();
}

void u16(std::string& out, uint32_t value) {
  out.push_back(static_cast<char>(value));
  out.push_back(static_cast<char>(value >> 8));
}

}  // namespace

Result<std::string> encode_gif(const Frames& frames) {
  const uint64_t pixels = uint64_t{frames.width} * frames.height;
  if (frames.count == 0 || pixels == 0 || frames.width > 65535 || frames.height > 65535 ||
      (frames.channels != 1 && frames.channels != 3 && frames.channels != 4) ||
      frames.data.size() / frames.channels / pixels != frames.count)
    return fail(Code::kInvalid,
                fmt::format("{} frames of {} x {} with {} channels cannot be a GIF", frames.count,
                            frames.width, frames.height, frames.channels));
  const Palette palette = palette_of(frames);
  std::string out = "GIF89a";
  u16(out, frames.width);
  u16(out, frames.height);
  out += std::string("\xf7\0\0", 3);  // a palette of 256, colour 0 behind
  for (size_t i = 0; i < 256; ++i) {
    const Color c = i < palette.colors.size() ? palette.colors[i] : Color{};
    out.append(reinterpret_cast<const char*>(c.data()), 3);
  }
  out += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
  const double fps = frames.frames_per_s > 0 ? frames.frames_per_s : 4;
  const auto delay = static_cast<uint32_t>(std::clamp(std::round(100 / fps), 1.0, 65535.0));
  std::vector<uint8_t> indexed(pixels);
  std::vector<int16_t> child;
  for (uint32_t f = 0; f < frames.count; ++f) {
    out += std::string("\x21\xf9\x04\x04", 4);
    u16(out, delay);
    out += std::string("\0\0\x2c\0\0\0\0", 7);
    u16(out, frames.width);
    u16(out, frames.height);
    out.push_back(0);
    for (size_t i = 0; i < pixels; ++i) {
      const Color c = color_at(frames, f * pixels + i);
      indexed[i] = palette.index.at(packed(palette.exact ? c : reduced(c)));
    }
    lzw(out, indexed, child);
  }
  out.push_back(0x3b);
  return out;
}

}  // namespace sonde::image
