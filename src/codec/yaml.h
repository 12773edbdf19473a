// Reads YAML into the tree that JSON is read into: configuration files and rules. libyaml does the
// parsing. Words are taken as YAML 1.2 does: true, null and 1e-3 are no text, yes and nan are.
// Anchors, aliases and the merge key "<<" are followed. Hostile input is normal: depth is limited,
// and so is the number of nodes with those of aliases, which a few lines can multiply.
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/json_read.h"

namespace sonde {

// The first document; null for an empty one. kInvalid with line and column where it stops making
// sense; kTooLarge when nested deeper than 64 or beyond 100 000 nodes.
Result<JsonValue> read_yaml(std::string_view text);

}  // namespace sonde
