// A series whose points are in a database: what it is and both its ends are known, everything else
// is fetched when it is read.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "log/team/point_cache.h"

namespace sonde::team {

class TableSeries final : public store::Series {
 public:
  // Where the references of a series come from; the cache notes failures.
  using Blobs = std::function<Result<std::vector<store::BlobPoint>>(const SeriesRow&)>;

  TableSeries(SeriesRow row, std::vector<store::MistypedValue> mistyped, PointCache& cache,
              Blobs blobs, uint64_t revision);

  // Read like any other. When the database does not answer, what is handed out is empty of meaning
  // and the cache's failures() has grown: the answer made from it must not be sent.
  void blocks(store::Range range,
              const std::function<void(const store::ScalarBlock&)>& fn) const override;
  std::span<const store::BlobPoint> points(store::Range range) const override;
  uint64_t unreadable() const override { return row_.unreadable; }

  const SeriesRow& row() const { return row_; }

 private:
  const SeriesRow row_;
  PointCache& cache_;
  const Blobs blobs_;
  mutable std::mutex mutex_;  // guards: everything below
  mutable bool has_references_ = false;
  mutable std::deque<std::vector<store::BlobPoint>> references_;  // spans into them stay valid
};

}  // namespace sonde::team
