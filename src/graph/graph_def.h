// Serialized GraphDefs taken apart and put together again without decoding more than the names that
// change: the graphs inside a RunMetadata joined to one, and attributes too large to show removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::graph {

// The GraphDef of a RunMetadata written by a function trace: one pre-optimization graph as it is,
// several with their names prefixed "graph_1/", "graph_2/" ..., none an empty graph. kInvalid when
// the graphs were made by different versions.
Result<std::string> graph_of_run_metadata(Bytes run_metadata);

// The graph without attributes of more than `limit` bytes; their names are listed in the attribute
// `key` of their node.
Result<std::string> without_large_attributes(Bytes graph, uint64_t limit, std::string_view key);

}  // namespace sonde::graph
