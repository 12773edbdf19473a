// Log directories as somebody types them: several, and patterns that name several.
#pragma once

#include <string>
#include <vector>

#include "io/scan.h"

namespace sonde::io {

// A pattern (`runs-*`, `team/[ab]?`) that is no folder itself becomes the folders it fits, in the
// order of their names; one that fits nothing stays as it is and is waited for. A single root has
// no name; several are named by the ends of their paths, as much of them as tells them apart.
std::vector<ScanRoot> named_roots(const std::vector<std::string>& typed);

}  // namespace sonde::io
