// The tree of scopes over a Model: every `/` of a name opens a scope, runs of numbered equal
// operations form a series. Each item knows how many operations it holds and, with run metadata,
// their time and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"

namespace sonde::graph {

enum class ItemKind : uint8_t { kScope, kOp, kSeries };

struct Item {
  std::string path;   // full name; "" for the root, "parent/prefix[0-9]" for a series
  std::string label;  // last component
  ItemKind kind = ItemKind::kScope;
  uint32_t parent = kNone;
  uint32_t node = kNone;               // of an operation
  std::vector<uint32_t> children;      // in order of first appearance
  uint64_t ops = 0;                    // operations inside, constants and summaries left out
  uint32_t device = 0, cluster = 0;    // words; of a scope the one most operations share
  int64_t start_ps = -1, end_ps = -1;  // hull of the run metadata's intervals; -1 = no data
  uint64_t bytes = 0;
  uint32_t structure = 0;  // equal numbers = equal structure; 0 = unique
};

struct Hierarchy {
  std::vector<Item> items;             // items[0] is the root
  std::vector<uint32_t> item_of_node;  // by node

  uint32_t find(std::string_view path) const;  // kNone when absent
  StringTable paths;                           // path -> index into path_items
  std::vector<uint32_t> path_items;            // the first item of that path
};

Hierarchy build_hierarchy(const Model& model);

// Adds times, bytes, devices and shapes of a serialized RunMetadata to the items. kCorrupt when it
// is none.
Result<uint64_t> add_run_metadata(Bytes run_metadata, Model& model, Hierarchy& hierarchy);

}  // namespace sonde::graph
