// A line chart as PNG, for readers without a browser: axes with round numbers, curves, a legend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sonde::image {

struct ChartLine {
  std::string name;
  std::vector<double> x, y;  // of the same length; what is not finite is a gap
};

struct Chart {
  std::string title, x_title;
  std::vector<ChartLine> lines;  // kMostChartLines of them have a colour of their own
  bool log_y = false;            // values <= 0 are gaps
  uint32_t width = 800, height = 450;
};

inline constexpr size_t kMostChartLines = 12;
inline constexpr uint32_t kLeastChartWidth = 240, kLeastChartHeight = 160, kMostChartSide = 2000;

// "#rrggbb" of the line of that number.
std::string chart_colour(size_t line);
// kInvalid when nothing can be drawn; sizes are kept within the limits.
Result<std::string> draw_chart(const Chart& chart);

}  // namespace sonde::image
