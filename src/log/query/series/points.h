// Random access to the points of one scalar series as a view shows them: index i counts the points
// of the view, not arrival order. Copies points out as plain arrays of doubles, which is what every
// question about numbers wants.
#pragma once

#include <cstdint>
#include <vector>

#include "log/model/snapshot.h"

namespace sonde::query {

struct Points {
  std::vector<Step> steps;
  std::vector<double> walls;
  std::vector<double> values;

  size_t size() const { return steps.size(); }
  void clear() {
    steps.clear();
    walls.clear();
    values.clear();
  }
};

// Borrows the series; cheap to make (once per question and series).
class ViewReader {
 public:
  ViewReader(const store::Series& series, store::View view);

  const store::Series& series() const { return series_; }
  uint64_t size() const { return size_; }

  // Appends the points [begin, end) of the view; the caller stays within size().
  void read(uint64_t begin, uint64_t end, Points& out) const;

 private:
  const store::Series& series_;
  std::span<const store::Range> ranges_;
  std::vector<uint64_t> starts_;  // view index of each range's first point
  uint64_t size_ = 0;
};

// What the horizontal axis counts.
enum class Axis : uint8_t {
  kStep,
  kRelative,  // seconds since the first point of the view
  kWall,
};

// x of a point; `first_wall` is the wall time of the view's first point.
inline double x_of(Axis axis, Step step, double wall, double first_wall) {
  switch (axis) {
    case Axis::kStep:
      return static_cast<double>(step);
    case Axis::kRelative:
      return wall - first_wall;
    case Axis::kWall:
      return wall;
  }
  return 0;
}

}  // namespace sonde::query
