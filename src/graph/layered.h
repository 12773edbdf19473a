// Layered drawing of a small directed graph of boxes: data flows top down, long edges bend around
// boxes, crossings are reduced by barycentres. Pure geometry, deterministic, near linear for large
// inputs.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::graph {

struct Point {
  float x = 0, y = 0;
};

struct Box {
  float width = 0, height = 0;
  float x = 0, y = 0;  // centre; written by lay_out
};

struct Link {
  uint32_t from = 0, to = 0;  // boxes
  float weight = 1;           // heavier links are kept straighter
  std::vector<Point> points;  // from the border of `from` to the border of `to`; written by lay_out
};

struct Drawing {
  float width = 0, height = 0;  // everything lies inside [0,width] x [0,height]
};

struct Spacing {
  float between_boxes = 24, between_layers = 34, between_bends = 8;
};

Drawing lay_out(std::vector<Box>& boxes, std::vector<Link>& links, const Spacing& spacing = {});

}  // namespace sonde::graph
