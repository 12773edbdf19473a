#include "image/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "image/glyphs.h"
#include "image/png_encode.h"

namespace sonde::image {
namespace {

constexpr uint32_t kPaper = 0xffffff, kInk = 0x33373d, kGrid = 0xe3e6ea, kFrame = 0x8b8f97;
// The page's colours of runs on light ground.
constexpr std::array<uint32_t, kMostChartLines> kColours = {0x5491fe, 0xe96703, 0x01a75f, 0xc774ab,
                                                            0x5f2cc7, 0x6f5101, 0x006c6b, 0xbe023c,
                                                            0x839305, 0x6c0076, 0x017fcd, 0x9b6400};
constexpr int kAdvance = kGlyphWidth + 1, kLine = 12;

struct Canvas {
  Canvas(int w, int h) : width(w), height(h), data(static_cast<size_t>(w) * h * 3, 0xff) {}
  void dot(int x, int y, uint32_t colour) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    uint8_t* at = &data[(static_cast<size_t>(y) * width + x) * 3];
    at[0] = static_cast<uint8_t>(colour >> 16);
    at[1] = static_cast<uint8_t>(colour >> 8);
    at[2] = static_cast<uint8_t>(colour);
  }
  void box(int x, int y, int w, int h, uint32_t colour) {
    for (int j = y; j < y + h; ++j) {
      for (int i = x; i < x + w; ++i) dot(i, j, colour);
    }
  }
  // One code point, one place; what is not ASCII is a box.
  void text(int x, int y, std::string_view words, uint32_t colour = kInk) {
    for (const char c : words) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0) == 0x80) continue;
      const bool known = byte >= 0x20 && byte < 0x7f;
      for (int i = 0; i < kGlyphWidth; ++i) {
        const uint8_t column = known ? kGlyphs[byte - 0x20][i] : i == 0 || i == 4 ? 0x7f : 0x41;
        for (int j = 0; j < kGlyphHeight; ++j) {
          if ((column >> j) & 1) dot(x + i, y + j, colour);
        }
      }
      x += kAdvance;
    }
  }

  int width, height;
  std::vector<uint8_t> data;
};

int width_of(std::string_view words) {
  const auto letters =
      std::ranges::count_if(words, [](unsigned char c) { return (c & 0xC0) != 0x80; });
  return static_cast<int>(letters) * kAdvance;
}

std::string cut(std::string_view words, int room) {
  if (width_of(words) <= room) return std::string(words);
  const int letters = std::max(0, room / kAdvance - 2);
  size_t end = 0;
  for (int i = 0; end < words.size() && i <= letters; ++end) {
    if ((static_cast<unsigned char>(words[end]) & 0xC0) != 0x80 && i++ == letters) break;
  }
  return std::string(words.substr(0, end)) + "..";
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  // A range of one value gets some room around it.
  void widen() {
    if (high > low) return;
    const double by = low == 0 ? 1 : std::abs(low) * 0.05;
    low -= by, high += by;
  }
  double share(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }
};

std::vector<double> ticks_of(const Range& range, int most) {
  std::vector<double> out;
  const double span = range.high - range.low;
  if (!std::isfinite(span) || span <= 0) return {range.low, range.high};
  const double raw = span / std::max(1, most), power = std::pow(10, std::floor(std::log10(raw)));
  double step = power;
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    step = times * power;
    if (step >= raw) break;
  }
  for (double at = std::ceil(range.low / step) * step; at <= range.high + step * 1e-9; at += step) {
    out.push_back(std::abs(at) < step * 1e-9 ? 0 : at);
    if (out.size() > 50) break;  // steps below what a double can tell apart
  }
  return out;
}

}  // namespace

std::string chart_colour(size_t line) {
  return fmt::format("#{:06x}", kColours[line % kColours.size()]);
}

Result<std::string> draw_chart(const Chart& chart) {
  const int width = static_cast<int>(std::clamp(chart.width, kLeastChartWidth, kMostChartSide));
  const int height = static_cast<int>(std::clamp(chart.height, kLeastChartHeight, kMostChartSide));
  const auto y_of = [&](double value) {
    return !chart.log_y ? value : value > 0 ? std::log10(value) : std::nan("");
  };
  Range xs, ys;
  for (const ChartLine& line : chart.lines) {
    for (size_t i = 0; i < line.x.size(); ++i) {
      const double y = y_of(line.y[i]);
      if (!std::isfinite(y) || !std::isfinite(line.x[i])) continue;
      xs.add(line.x[i]), ys.add(y);
    }
  }
  if (!(xs.low <= xs.high)) return fail(Code::kInvalid, "there is no finite value to draw");
  xs.widen(), ys.widen();

  Canvas canvas(width, height);
  const int legend_rows =
      std::min<int>(static_cast<int>(chart.lines.size()), std::max(1, (height / 3) / kLine));
  std::vector<std::pair<double, std::string>> marks;
  int left = 0;
  for (const double at : ticks_of(ys, (height - 60) / 40)) {
    marks.emplace_back(at, fmt::format("{:.5g}", chart.log_y ? std::pow(10, at) : at));
    left = std::max(left, width_of(marks.back().second));
  }
  left += 12;
  const int top = 20, right = width - 12, bottom = height - 34 - legend_rows * kLine;
  const auto px = [&](double x) {
    return left + static_cast<int>(std::lround(xs.share(x) * (right - left - 1)));
  };
  const auto py = [&](double y) {
    return bottom - 1 - static_cast<int>(std::lround(ys.share(y) * (bottom - top - 1)));
  };
  for (const auto& [at, words] : marks) {
    canvas.box(left, py(at), right - left, 1, kGrid);
    canvas.text(left - 6 - width_of(words), py(at) - 3, words);
  }
  for (const double at : ticks_of(xs, (right - left) / 80)) {
    const std::string words = fmt::format("{:.7g}", at);
    canvas.box(px(at), top, 1, bottom - top, kGrid);
    const int begin = px(at) - width_of(words) / 2;
    canvas.text(std::min(begin, width - width_of(words)), bottom + 5, words);
  }
  canvas.box(left, bottom, right - left, 1, kFrame);
  canvas.box(left, top, 1, bottom - top, kFrame);
  canvas.text(left, 6, cut(chart.title + (chart.log_y ? " (log)" : ""), right - left));
  canvas.text(right - width_of(chart.x_title), bottom + 16, chart.x_title);

  for (size_t n = chart.lines.size(); n-- > 0;) {  // the first line stands on top
    const ChartLine& line = chart.lines[n];
    const uint32_t colour = kColours[n % kColours.size()];
    int from_x = -1, from_y = -1;
    for (size_t i = 0; i < line.x.size(); ++i) {
      const double y = y_of(line.y[i]);
      if (!std::isfinite(y) || !std::isfinite(line.x[i])) {
        from_x = -1;
        continue;
      }
      const int x = px(line.x[i]), at = py(y);
      if (from_x < 0) from_x = x, from_y = at;
      const int steps = std::max(1, std::max(std::abs(x - from_x), std::abs(at - from_y)));
      for (int k = 0; k <= steps; ++k)
        canvas.box(from_x + (x - from_x) * k / steps, from_y + (at - from_y) * k / steps, 2, 2,
                   colour);
      from_x = x, from_y = at;
    }
  }
  for (int row = 0; row < legend_rows; ++row) {
    const auto n = static_cast<size_t>(row);
    const int y = bottom + 30 + row * kLine;
    const size_t hidden = chart.lines.size() - n;
    if (row + 1 == legend_rows && hidden > 1) {
      canvas.text(left, y, fmt::format("and {} more", hidden));
      break;
    }
    canvas.box(left, y + 2, 14, 3, kColours[n % kColours.size()]);
    canvas.text(left + 20, y, cut(chart.lines[n].name, right - left - 20));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(canvas.data.data());
  return encode_png({Bytes(bytes, canvas.data.size()), static_cast<uint32_t>(width),
                     static_cast<uint32_t>(height), 3});
}

}  // namespace sonde::image
