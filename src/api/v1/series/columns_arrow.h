// The answer of POST columns as an Arrow IPC file: one row an element, with the names of its series.
#pragma once

#include <string>

#include "base/result.h"
#include "log/model/snapshot.h"
#include "log/query/series/columns.h"

namespace sonde::api::v1 {

inline constexpr std::string_view kArrowMime = "application/vnd.apache.arrow.file";
// `run` (for a group "set 0", "set 1" …) and `tag` are dictionaries, integers int64, the rest double.
Result<std::string> columns_arrow(const query::Picture& picture, const store::Snapshot& snapshot);

}  // namespace sonde::api::v1
