// One scalar series as a question sees it: all its points when they are few, a pyramid of summaries
// when they are many. Made per question and series; the pyramids are kept between questions in a
// cache that only saves time: an answer is the same without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "log/query/series/points.h"
#include "log/query/series/pyramid.h"
#include "log/query/series/smooth.h"

namespace sonde::query {

// Which series this is, for the cache. `source` tells one store from another (a hash of its boot).
struct SeriesKey {
  uint64_t source = 0;
  store::RunId run{};
  store::View view = store::View::kNewest;
};

class SeriesReader {
 public:
  // Borrows the series. `pool` (may be nullptr) helps to summarise a long one.
  SeriesReader(const store::Series& series, const SeriesKey& key, ThreadPool* pool);

  uint64_t size() const { return reader_.size(); }
  bool is_small() const { return !pyramid_; }
  const Points& all() const { return all_; }            // only when small
  const Pyramid& pyramid() const { return *pyramid_; }  // only when not
  double first_wall() const { return first_wall_; }
  const Run& run(Axis axis) const;
  bool is_constant() const;  // every value is the same number

  void read(uint64_t begin, uint64_t end, Points& out) const { reader_.read(begin, end, out); }
  double x(Axis axis, Step step, double wall) const { return x_of(axis, step, wall, first_wall_); }

  // The first index whose x is not below `x`; only where x is sorted.
  uint64_t lower(Axis axis, double x) const;
  // The first index whose x is above `x`; only where x is sorted.
  uint64_t upper(Axis axis, double x) const;

  // States of the moving average per chunk; only when not small.
  std::shared_ptr<const EmaCheckpoints> trail(double weight) const;

 private:
  template <class Below>
  uint64_t partition(Axis axis, Below below) const;

  ViewReader reader_;
  SeriesKey key_;
  Points all_;
  std::shared_ptr<const Pyramid> pyramid_;
  double first_wall_ = 0;
  Run steps_, walls_, relative_;
};

}  // namespace sonde::query
