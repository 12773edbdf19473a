// The graphs of a log directory and of uploads, found by id and kept parsed while they are looked
// at.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "graph/hierarchy.h"

namespace sonde::api::v1 {

struct GraphEntry {
  std::string id;                     // stable for the same run, tag and kind
  std::string run, tag;               // tag empty: the run's own graph
  std::string kind;                   // "op", "conceptual" or "upload"
  std::vector<std::string> metadata;  // tags with run metadata that fits this graph
  uint64_t revision = 0;
};

struct LoadedGraph {
  GraphEntry entry;
  graph::Model model;
  graph::Hierarchy hierarchy;
  uint64_t stats = 0;  // nodes of the run metadata laid over it
};

// Parsed graphs, most recently used first, and uploads, oldest first. Only what was read without an
// error is kept: what is missing now may be logged in a moment. One a server.
struct GraphCache {
  struct Parsed {
    std::string id, metadata;
    uint64_t mark = 0;  // the graph's revision, and that of its run metadata
    std::shared_ptr<const LoadedGraph> graph;
  };
  struct Upload {
    std::string id, name, bytes;
  };
  std::mutex mutex;  // guards: parsed, uploads
  std::list<Parsed> parsed;
  std::deque<Upload> uploads;
};

std::vector<GraphEntry> graph_entries(const Context& context);

// kNotFound, kCorrupt. `metadata` names a tag whose run metadata colours the graph; may be empty.
Result<std::shared_ptr<const LoadedGraph>> loaded_graph(const Context& context, std::string_view id,
                                                        std::string_view metadata);

// Keeps an uploaded GraphDef (binary) and gives its id. The oldest of eight is forgotten.
std::string keep_upload(const Context& context, std::string name, std::string graph_def);

}  // namespace sonde::api::v1
