// The picture of one view of a graph: which scopes are open, everything else folded. Only what is
// visible is laid out, so a graph of 100 000 nodes costs one pass over its edges a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/hierarchy.h"
#include "graph/layered.h"

namespace sonde::graph {

struct LevelQuery {
  uint32_t scope = 0;            // the item whose inside is drawn
  std::vector<uint32_t> open;    // scopes and series drawn from inside
  std::vector<uint32_t> aside;   // items the user moved out of the main picture
  std::vector<uint32_t> inside;  // items the user wants in it, whatever the rules say
};

// A neighbour that is not drawn as an edge: an auxiliary node, named on the node it touches.
struct Stub {
  uint32_t item = 0;
  EdgeKind kind = EdgeKind::kData;
};

struct PictureNode {
  uint32_t item = 0;
  float x = 0, y = 0, width = 0, height = 0;  // centre and size
  bool is_open = false;                       // a box around its children
  bool is_aside = false;                      // in the column of auxiliary nodes
  uint32_t constants = 0, summaries = 0;      // folded into this node
  std::vector<Stub> in, out;                  // at most kMaxStubs each
  uint32_t more_in = 0, more_out = 0;
};

struct PictureEdge {
  uint32_t from = 0, to = 0;  // indices of PictureNodes
  EdgeKind kind = EdgeKind::kData;
  uint32_t count = 0;     // base edges behind it
  uint64_t elements = 0;  // of all tensors behind it
  std::string label;      // the shape of a single tensor, "3 tensors" of several
  Point label_at;         // the middle of the stretch between the boxes it joins
  std::vector<Point> points;
};

struct Picture {
  std::vector<PictureNode> nodes;  // a box comes before what is inside it
  std::vector<PictureEdge> edges;
  std::vector<uint32_t> functions;  // items of library functions; at the root only
  float width = 0, height = 0;
  uint64_t left_out = 0;  // children beyond what one scope can show
};

inline constexpr size_t kMaxStubs = 5;
inline constexpr size_t kMaxChildren =
    1500;  // drawn in one scope; the rest is counted and found by search

Picture draw_level(const Model& model, const Hierarchy& hierarchy, const LevelQuery& query);

// Everything that feeds a node, directly or through others: node indices, ascending.
std::vector<uint32_t> traced_inputs(const Model& model, uint32_t node);

}  // namespace sonde::graph
