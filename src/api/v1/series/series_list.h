// The list of series in a request body: [{"tag":"loss","runs":"all"|[ids or names]}], and the
// smoothing that goes with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codec/json_read.h"
#include "log/model/snapshot.h"
#include "log/query/series/columns.h"
#include "log/query/series/smooth.h"

namespace sonde::api::v1 {

struct SeriesEntry {
  std::string tag;
  std::vector<const store::RunSnapshot*> runs;
};

// "all" (every run, in order) or a list of ids and names; runs that have gone are left out, since
// a page may ask with a list that is a moment old.
Result<std::vector<const store::RunSnapshot*>> runs_in(const store::Snapshot& snapshot,
                                                       const JsonValue& value);
Result<std::vector<SeriesEntry>> entries_in(const store::Snapshot& snapshot, const JsonValue& body);

// The scalar series of the entries, in order; runs without the tag are left out.
std::vector<query::Item> items_of(const std::vector<SeriesEntry>& entries);

Result<query::Smoothing> smoothing_in(const JsonValue& body);

}  // namespace sonde::api::v1
