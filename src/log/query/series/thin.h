// Cuts a series into as many buckets as a picture has pixels and keeps of each what a picture
// needs: extremes, first, last, mean, counts. A spike of one point among ten million is in the
// answer. The rules (exact below two points a pixel, neighbours outside the range, series that go
// back) are in docs/api.md §3.
#pragma once

#include <cstdint>
#include <vector>

#include "log/query/series/series_reader.h"

namespace sonde::query {

enum class Scale : uint8_t { kLinear, kLog, kSymlog };

// Position of x in the space buckets are equal in; NaN where the scale has no place for x.
double scaled(Scale scale, double x);

struct Cut {
  Axis axis = Axis::kStep;
  Scale scale = Scale::kLinear;
  double x0 = 0, x1 = 0;
  size_t px = 640;

  double width() const;  // of a bucket, in scaled space
};

// One bucket, or one point.
struct Element {
  uint64_t index = 0;  // of the last point, in the view
  double x = 0;        // of the last point
  Step step = 0;       // of the last point
  double wall = 0;     // of the last point
  double first = 0, last = 0;
  double min = 0, max = 0, sum = 0;  // over finite values
  uint32_t count = 0, finite = 0;

  double mean() const;
  double low() const;   // min, NaN when no value is finite
  double high() const;  // max, likewise
};

struct Thinned {
  std::vector<Element> elements;
  bool exact = false;
  bool sorted = false;  // the series goes back so often that its points were put in order of x
};

// Above this many places where x goes back a series is sorted by x.
inline constexpr uint32_t kMaxBreaks = 64;

// Points with x in [x0, x1].
uint64_t count_in(const SeriesReader& lens, const Cut& cut);

// `in_range` is what count_in said.
Thinned thin(const SeriesReader& lens, const Cut& cut, uint64_t in_range);

}  // namespace sonde::query
