// A GraphDef as the graph page sees it: flat nodes with normalised inputs, library functions
// unfolded under their own scope, names made strictly hierarchical (a node `a` beside `a/b` becomes
// `a/(a)`). Attributes stay in the wire bytes until somebody looks at one node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/result.h"

namespace sonde::graph {

inline constexpr std::string_view kFunctionPrefix = "__function_library__";
inline constexpr uint32_t kNone = UINT32_MAX;

// Only the first so many '/' of a name open scopes: a hostile name must not become a million of
// them.
inline constexpr size_t kMaxDepth = 64;
// Where the name's own label begins: after its last scope-opening '/', 0 without one.
size_t label_start(std::string_view name);

enum class EdgeKind : uint8_t { kData, kControl, kReference };

// How a node takes part in the picture; the last two are drawn as small marks on their neighbours.
enum class Role : uint8_t { kOp, kConstant, kSummary };

struct Edge {
  uint32_t from = 0, to = 0;  // nodes
  uint32_t slot = 0;          // output of `from`
  EdgeKind kind = EdgeKind::kData;
};

struct Node {
  std::string name;                          // strictly hierarchical
  uint32_t op = 0, device = 0, cluster = 0;  // in Model::words; "" when absent
  Role role = Role::kOp;
  bool in_function = false;
  Bytes def;                       // the NodeDef; points into Model::bytes
  std::vector<uint32_t> shapes;    // of each output, in Model::words as "256×64", "scalar", "?"
  std::vector<uint64_t> elements;  // of each output, unknown dimensions count as one
};

struct Model {
  std::shared_ptr<const std::string> bytes;  // the GraphDef; nodes point into it
  StringTable words;
  std::vector<Node> nodes;
  std::vector<Edge> edges;             // in order of the consuming node's inputs
  std::vector<std::string> functions;  // names of library functions
  std::vector<std::string> problems;   // inputs that name no node, in sentences; at most 100
  uint64_t dropped_edges = 0;

  uint32_t find(
      std::string_view name) const;  // kNone when absent; accepts the name before renaming too

  StringTable names;  // strict name -> index into name_nodes
  std::vector<uint32_t> name_nodes;
};

// kCorrupt when the bytes are no GraphDef; what could be read is not thrown away silently: a node
// that does not parse becomes a problem.
Result<Model> read_model(std::string graph_def);

}  // namespace sonde::graph
