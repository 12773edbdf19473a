#include "log/query/series/thin.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Element element_of(uint64_t index, double x, Step step, double wall, double value) {
  const bool finite = std::isfinite(value);
  return {index,
          x,
          step,
          wall,
          value,
          value,
          finite ? value : kInfinity,
          finite ? value : -kInfinity,
          finite ? value : 0,
          1,
          finite ? 1u : 0u};
}

void absorb(Element& into, const Element& next) {
  into.index = next.index;
  into.x = next.x;
  into.step = next.step;
  into.wall = next.wall;
  into.last = next.last;
  into.min = std::min(into.min, next.min);
  into.max = std::max(into.max, next.max);
  into.sum += next.sum;
  into.count += next.count;
  into.finite += next.finite;
}

// Maps x to its bucket. Kept apart so that the linear case stays a few instructions.
struct Buckets {
  explicit Buckets(const Cut& cut)
      : scale(cut.scale),
        x0(cut.x0),
        x1(cut.x1),
        start(scaled(cut.scale, cut.x0)),
        width(cut.width()),
        last(static_cast<double>(cut.px - 1)) {
    // A range that begins where a logarithm has no value begins at the smallest x there is.
    if (std::isnan(start)) start = scaled(scale, std::numeric_limits<double>::min());
  }
  bool shows(double x) const { return std::isfinite(x) && (scale != Scale::kLog || x > 0); }
  bool holds(double x) const { return x >= x0 && x <= x1 && (scale != Scale::kLog || x > 0); }
  int64_t of(double x) const {
    if (!(width > 0)) return 0;
    const double t = scale == Scale::kLinear ? x : scaled(scale, x);
    return static_cast<int64_t>(std::clamp(std::floor((t - start) / width), 0.0, last));
  }

  Scale scale;
  double x0, x1, start, width, last;
};

// Takes points (or whole chunks that fit one bucket) in view order and emits elements.
class Sequence {
 public:
  Sequence(const Buckets& buckets, bool exact, std::vector<Element>& out)
      : buckets_(buckets), exact_(exact), out_(out) {}

  void add(const Element& e, double first_x) {
    if (!buckets_.shows(e.x)) return;
    const bool back = has_before_ && first_x < before_.x;
    if (buckets_.holds(e.x)) {
      const int64_t bucket = exact_ ? 0 : buckets_.of(e.x);
      if (open_ && (exact_ || bucket != bucket_ || back)) flush();
      if (has_before_ && !before_inside_ && !back && !before_sent_) out_.push_back(before_);
      if (open_) {
        absorb(current_, e);
      } else {
        current_ = e;
        bucket_ = bucket;
        open_ = true;
      }
      remember(e, true, false);
      return;
    }
    if (open_) flush();
    const bool after = has_before_ && !back && before_inside_;
    const bool across =
        has_before_ && !back && !before_inside_ && before_.x < buckets_.x0 && first_x > buckets_.x1;
    if (across && !before_sent_) out_.push_back(before_);
    if (after || across) out_.push_back(e);
    remember(e, false, after || across);
  }
  void flush() {
    if (open_) out_.push_back(current_);
    open_ = false;
  }

 private:
  void remember(const Element& e, bool inside, bool sent) {
    before_ = e;
    has_before_ = true;
    before_inside_ = inside;
    before_sent_ = sent;
  }

  const Buckets& buckets_;
  const bool exact_;
  std::vector<Element>& out_;
  Element current_, before_;
  int64_t bucket_ = 0;
  bool open_ = false, has_before_ = false, before_inside_ = false, before_sent_ = false;
};

// One Element for a whole chunk.
Element element_of(const SeriesReader& lens, Axis axis, size_t c) {
  const Chunk& chunk = lens.pyramid().chunks[c];
  const uint64_t end = lens.pyramid().chunk_end(c);
  return {end - 1,         lens.x(axis, chunk.last_step, chunk.last_wall),
          chunk.last_step, chunk.last_wall,
          chunk.first,     chunk.last,
          chunk.min,       chunk.max,
          chunk.sum,       static_cast<uint32_t>(end - lens.pyramid().chunk_begin(c)),
          chunk.finite};
}

const Run& run_of(const Chunk& chunk, Axis axis) {
  return axis == Axis::kStep ? chunk.steps : chunk.walls;
}

// Calls whole(c, first_x, last_x) for each whole chunk of [begin, end) whose x is sorted, until it
// says false; then, and for everything else, point(index, points, i).
template <class Whole, class Point>
void walk(const SeriesReader& lens, Axis axis, uint64_t begin, uint64_t end, Whole whole,
          Point point) {
  if (lens.is_small()) {
    for (uint64_t i = begin; i < end; ++i) point(i, lens.all(), static_cast<size_t>(i));
    return;
  }
  Points points;
  while (begin < end) {
    const auto c = static_cast<size_t>(begin / kChunk);
    const uint64_t chunk_begin = lens.pyramid().chunk_begin(c);
    const uint64_t chunk_end = lens.pyramid().chunk_end(c);
    const Chunk& chunk = lens.pyramid().chunks[c];
    if (begin == chunk_begin && chunk_end <= end && run_of(chunk, axis).sorted() &&
        whole(c, lens.x(axis, chunk.first_step, chunk.first_wall),
              lens.x(axis, chunk.last_step, chunk.last_wall))) {
      begin = chunk_end;
      continue;
    }
    const uint64_t stop = std::min(end, chunk_end);
    points.clear();
    lens.read(begin, stop, points);
    for (size_t i = 0; i < points.size(); ++i) point(begin + i, points, i);
    begin = stop;
  }
}

void thin_in_order(const SeriesReader& lens, const Cut& cut, Thinned& result) {
  const Buckets buckets(cut);
  const Axis axis = cut.axis;
  uint64_t begin = 0, end = lens.size();
  if (lens.run(axis).sorted()) {
    begin = lens.lower(axis, cut.x0);
    end = lens.upper(axis, cut.x1);
    begin -= begin > 0 ? 1 : 0;
    end += end < lens.size() ? 1 : 0;
  }
  Sequence sequence(buckets, result.exact, result.elements);
  const auto whole = [&](size_t c, double first_x, double last_x) {
    if (last_x < cut.x0 || first_x > cut.x1) {  // all outside: its ends are enough
      const Chunk& chunk = lens.pyramid().chunks[c];
      sequence.add(element_of(lens.pyramid().chunk_begin(c), first_x, chunk.first_step,
                              chunk.first_wall, chunk.first),
                   first_x);
      sequence.add(element_of(lens.pyramid().chunk_end(c) - 1, last_x, chunk.last_step,
                              chunk.last_wall, chunk.last),
                   last_x);
      return true;
    }
    if (result.exact || !buckets.holds(first_x) || !buckets.holds(last_x)) return false;
    if (buckets.of(first_x) != buckets.of(last_x)) return false;
    sequence.add(element_of(lens, axis, c), first_x);
    return true;
  };
  walk(lens, axis, begin, end, whole, [&](uint64_t index, const Points& points, size_t i) {
    const double x = lens.x(axis, points.steps[i], points.walls[i]);
    sequence.add(element_of(index, x, points.steps[i], points.walls[i], points.values[i]), x);
  });
  sequence.flush();
}

// The series as if its points were sorted by x: buckets fill in any order, `first` and `last` go by
// x and, where x is equal, by arrival.
void thin_by_x(const SeriesReader& lens, const Cut& cut, Thinned& result) {
  const Buckets buckets(cut);
  const Axis axis = cut.axis;
  std::vector<Element> cells(result.exact ? 0 : cut.px);
  std::vector<double> first_x(cells.size());
  Element before, after;  // the nearest points outside
  const auto take = [&](const Element& e) {
    if (!buckets.shows(e.x)) return;
    if (e.x < cut.x0) {
      if (before.count == 0 || e.x >= before.x) before = e;
    } else if (e.x > cut.x1) {
      if (after.count == 0 || e.x < after.x) after = e;
    } else if (result.exact) {
      result.elements.push_back(e);
    } else {
      const auto b = static_cast<size_t>(buckets.of(e.x));
      Element& cell = cells[b];
      if (cell.count == 0) {
        cell = e;
        first_x[b] = e.x;
        return;
      }
      const Element old = cell;
      absorb(cell, e);
      if (e.x < first_x[b]) {
        first_x[b] = e.x;
        cell.first = e.first;
      }
      if (e.x < old.x) {  // not the last by x: keep where the bucket ended
        cell.index = old.index;
        cell.x = old.x;
        cell.step = old.step;
        cell.wall = old.wall;
        cell.last = old.last;
      }
    }
  };
  walk(
      lens, axis, 0, lens.size(), [](size_t, double, double) { return false; },
      [&](uint64_t index, const Points& points, size_t i) {
        const double x = lens.x(axis, points.steps[i], points.walls[i]);
        take(element_of(index, x, points.steps[i], points.walls[i], points.values[i]));
      });
  for (const Element& cell : cells) {
    if (cell.count > 0) result.elements.push_back(cell);
  }
  auto& elements = result.elements;
  if (result.exact) {
    std::stable_sort(elements.begin(), elements.end(),
                     [](const Element& a, const Element& b) { return a.x < b.x; });
  }
  if (before.count > 0) elements.insert(elements.begin(), before);
  if (after.count > 0) elements.push_back(after);
}

}  // namespace

double scaled(Scale scale, double x) {
  switch (scale) {
    case Scale::kLinear:
      return x;
    case Scale::kLog:
      return x > 0 ? std::log10(x) : kNaN;
    case Scale::kSymlog:
      return std::copysign(std::log10(1 + std::abs(x)), x);
  }
  return x;
}

double Cut::width() const {
  double t0 = scaled(scale, x0);
  if (std::isnan(t0)) t0 = scaled(scale, std::numeric_limits<double>::min());
  const double t1 = scaled(scale, x1);
  const double width = (t1 - t0) / static_cast<double>(px);
  return width > 0 ? width : 0;
}

double Element::mean() const { return finite > 0 ? sum / finite : kNaN; }
double Element::low() const { return finite > 0 ? min : kNaN; }
double Element::high() const { return finite > 0 ? max : kNaN; }

uint64_t count_in(const SeriesReader& lens, const Cut& cut) {
  const Buckets buckets(cut);
  if (lens.run(cut.axis).sorted()) {
    const double from = cut.scale == Scale::kLog
                            ? std::max(cut.x0, std::numeric_limits<double>::denorm_min())
                            : cut.x0;
    const uint64_t begin = lens.lower(cut.axis, from), end = lens.upper(cut.axis, cut.x1);
    return end > begin ? end - begin : 0;
  }
  uint64_t count = 0;
  walk(
      lens, cut.axis, 0, lens.size(),
      [&](size_t c, double first_x, double last_x) {
        if (last_x < cut.x0 || first_x > cut.x1) return true;
        if (!buckets.holds(first_x) || !buckets.holds(last_x)) return false;
        count += lens.pyramid().chunk_end(c) - lens.pyramid().chunk_begin(c);
        return true;
      },
      [&](uint64_t, const Points& points, size_t i) {
        count += buckets.holds(lens.x(cut.axis, points.steps[i], points.walls[i]));
      });
  return count;
}

Thinned thin(const SeriesReader& lens, const Cut& cut, uint64_t in_range) {
  Thinned result;
  result.exact = in_range <= 2 * cut.px;
  result.sorted = lens.run(cut.axis).breaks > kMaxBreaks;
  result.elements.reserve(result.exact ? in_range + 2 : cut.px + 2);
  if (result.sorted) {
    thin_by_x(lens, cut, result);
  } else {
    thin_in_order(lens, cut, result);
  }
  return result;
}

}  // namespace sonde::query
