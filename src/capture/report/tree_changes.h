// The difference of two documents of the same tool (op profile, modules), node by node.
#pragma once

#include "capture/report/json_value.h"

namespace sonde::capture {

// `now` with every number as [now, before]. In lists of nodes (objects with a `name`) the n-th of a
// name belongs to the n-th of that name; nodes that only one side has keep null on the other, and
// those of `before` alone come last, with "gone": true. Deeper than 200 levels `now` stands as it
// is.
Json tree_changes(const Json& now, const Json& before);

}  // namespace sonde::capture
