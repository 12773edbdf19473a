// The list of series in a request body: [{"tag":"loss","runs":"all"|[ids or names]}] or, in place of
// a tag, {"expr":"train/loss - val/loss"}, and the smoothing that goes with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/routes.h"
#include "base/result.h"
#include "codec/json_read.h"
#include "log/model/snapshot.h"
#include "log/query/series/columns.h"
#include "log/query/series/expression.h"
#include "log/query/series/smooth.h"

namespace sonde::api::v1 {

struct SeriesEntry {
  std::string tag;
  std::vector<const store::RunSnapshot*> runs;
  std::optional<query::CurveExpression> expression;  // in place of a tag
};

// One entry's scalar series of each run, in order; null for a run without it. `owner` keeps what an
// expression made.
class SeriesOfEntry {
 public:
  SeriesOfEntry(const SeriesEntry& entry, const std::vector<const store::RunSnapshot*>& runs,
                const Context& context);
  const store::Series* of(size_t run) const;
  void keep(std::vector<std::shared_ptr<const store::Series>>& owner) const;

 private:
  std::vector<const store::Series*> series_;
  std::vector<std::shared_ptr<const store::Series>> derived_;
};

// "all" (every run, in order) or a list of ids and names; runs that have gone are left out, since
// a page may ask with a list that is a moment old.
Result<std::vector<const store::RunSnapshot*>> runs_in(const store::Snapshot& snapshot,
                                                       const JsonValue& value);
Result<std::vector<SeriesEntry>> entries_in(const store::Snapshot& snapshot, const JsonValue& body);

// The scalar series of the entries, in order; runs without the tag are left out.
// `owner` keeps what expressions made; it has to live as long as the items.
std::vector<query::Item> items_of(const std::vector<SeriesEntry>& entries, const Context& context,
                                  std::vector<std::shared_ptr<const store::Series>>& owner);

Result<query::Smoothing> smoothing_in(const JsonValue& body);

}  // namespace sonde::api::v1
