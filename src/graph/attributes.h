// The attributes of one node as text for people.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"

namespace sonde::graph {

struct Attribute {
  std::string key;
  std::string text;         // cut to kMaxAttributeText
  uint64_t size_bytes = 0;  // of the value on the wire
};

inline constexpr size_t kMaxAttributeText = 1000;

// In the order of their keys; `_output_shapes` is left out, since shapes are shown on the edges.
std::vector<Attribute> attributes(Bytes node_def);

}  // namespace sonde::graph
