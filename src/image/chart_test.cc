#include "image/chart.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sonde::image {

TEST_CASE("chart: a PNG of the size asked for, whatever the numbers are") {
  const double inf = std::numeric_limits<double>::infinity(), big = 1.7e308;
  const std::vector<std::vector<double>> lists = {
      {1, 2, 3}, {5}, {0, 0, 0}, {-big, big}, {1, std::nan(""), inf, 2}, {1e-310, 2e-310}};
  for (const auto& values : lists) {
    for (const bool log_y : {false, true}) {
      Chart chart{"loss", "step", {}, log_y, 400, 240};
      for (size_t n = 0; n < 30; ++n) {
        chart.lines.push_back({"a run ü " + std::string(200, 'x'), {}, values});
        for (size_t i = 0; i < values.size(); ++i)
          chart.lines.back().x.push_back(static_cast<double>(i));
      }
      const auto png = draw_chart(chart);
      if (!png) {
        CHECK(log_y);  // nothing above zero
        continue;
      }
      CHECK(png->starts_with("\x89PNG"));
      CHECK(static_cast<unsigned char>((*png)[18]) * 256 + static_cast<unsigned char>((*png)[19]) ==
            400);
    }
  }
  CHECK(!draw_chart({"", "", {{"a", {0}, {std::nan("")}}}, false, 400, 240}));
  CHECK(!draw_chart({}));
}

}  // namespace sonde::image
