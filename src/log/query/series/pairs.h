// A scalar tag drawn over another one: each point of the first is paired with the value that the
// other had at that step (or the nearest step before it). The line keeps step order.
#pragma once

#include <vector>

#include "log/query/series/smooth.h"
#include "log/query/series/thin.h"

namespace sonde::query {

struct Pairs {
  Points points;               // of the tag that is drawn, those that have a partner
  std::vector<double> xs;      // values of the other tag
  std::vector<double> smooth;  // empty when smoothing is off
  double min_x = kInfinity, max_x = -kInfinity;  // over finite xs
  double first_wall = 0;

  size_t size() const { return xs.size(); }
  uint64_t count_in(double x0, double x1) const;
};

Pairs paired(const store::Series& series, const store::Series& over, store::View view,
             const Smoothing& smoothing);

struct PairPiece {
  std::vector<Element> elements;
  std::vector<double> smooth;
  bool exact = false;
};

// Points with x in [x0, x1], cut into px buckets of step.
PairPiece thinned_pairs(const Pairs& pairs, double x0, double x1, size_t px);

}  // namespace sonde::query
