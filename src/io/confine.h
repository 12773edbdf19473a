// Paths that come from a log or a request must not lead out of the folder they belong to, neither
// by
// `..` nor by an absolute path nor through a symbolic link.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::io {

// The real path of `path` (relative to `folder`, or absolute) when it lies in `folder` or is it;
// kForbidden otherwise. The file itself need not exist.
Result<std::string> is_inside_root(const std::string& folder, std::string_view path);

}  // namespace sonde::io
