#include "graph/layered.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace sonde::graph;

namespace {

bool overlap(const Box& a, const Box& b) {
  return std::abs(a.x - b.x) < (a.width + b.width) / 2 - 0.01f &&
         std::abs(a.y - b.y) < (a.height + b.height) / 2 - 0.01f;
}

void check_drawing(const std::vector<Box>& boxes, const std::vector<Link>& links,
                   const Drawing& drawing) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    REQUIRE(boxes[i].x - boxes[i].width / 2 >= -0.1f);
    REQUIRE(boxes[i].x + boxes[i].width / 2 <= drawing.width + 0.1f);
    REQUIRE(boxes[i].y + boxes[i].height / 2 <= drawing.height + 0.1f);
    for (size_t j = i + 1; j < boxes.size(); ++j) REQUIRE_FALSE(overlap(boxes[i], boxes[j]));
  }
  for (const Link& link : links) REQUIRE(link.points.size() >= 2);
}

}  // namespace

TEST_CASE("layered: a chain is a straight column, top down") {
  std::vector<Box> boxes(4, Box{40, 20, 0, 0});
  std::vector<Link> links{{0, 1, 1, {}}, {1, 2, 1, {}}, {2, 3, 1, {}}};
  const Drawing drawing = lay_out(boxes, links);
  check_drawing(boxes, links, drawing);
  for (size_t i = 1; i < 4; ++i) {
    CHECK(boxes[i].x == doctest::Approx(boxes[0].x));
    CHECK(boxes[i].y > boxes[i - 1].y);
  }
}

TEST_CASE("layered: a skip link bends around the box between") {
  std::vector<Box> boxes(3, Box{40, 20, 0, 0});
  std::vector<Link> links{{0, 1, 1, {}}, {1, 2, 1, {}}, {0, 2, 1, {}}};
  check_drawing(boxes, links, lay_out(boxes, links));
  REQUIRE(links[2].points.size() == 3);
  CHECK(std::abs(links[2].points[1].x - boxes[1].x) > 20);
}

TEST_CASE("layered: cycles, self-contained parts and single boxes are drawn") {
  std::vector<Box> boxes(5, Box{30, 10, 0, 0});
  std::vector<Link> links{
      {0, 1, 1, {}}, {1, 2, 1, {}}, {2, 0, 1, {}}, {3, 4, 1, {}}, {4, 3, 1, {}}};
  check_drawing(boxes, links, lay_out(boxes, links));
  CHECK(links[2].points.front().y > links[2].points.back().y);  // drawn upwards, from 2 to 0
  std::vector<Box> one(1, Box{30, 10, 0, 0});
  std::vector<Link> none;
  CHECK(lay_out(one, none).width == doctest::Approx(30));
}

TEST_CASE("layered: random graphs never overlap and come out the same twice") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const size_t n = 2 + random() % 60;
    std::vector<Box> boxes;
    for (size_t i = 0; i < n; ++i)
      boxes.push_back({10.0f + static_cast<float>(random() % 90),
                       10.0f + static_cast<float>(random() % 60), 0, 0});
    std::vector<Link> links;
    for (size_t i = 0; i < 2 * n; ++i) {
      const auto from = static_cast<uint32_t>(random() % n),
                 to = static_cast<uint32_t>(random() % n);
      if (from != to) links.push_back({from, to, 1, {}});
    }
    auto boxes_again = boxes;
    auto links_again = links;
    check_drawing(boxes, links, lay_out(boxes, links));
    lay_out(boxes_again, links_again);
    for (size_t i = 0; i < n; ++i) REQUIRE(boxes[i].x == boxes_again[i].x);
  }
}
