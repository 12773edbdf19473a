#include "log/query/series/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "log/query/series/pairs.h"

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kExactStep = 9007199254740992.0;  // 2^53
constexpr size_t kFewestPx = 4;

struct Extent {
  double min = kInfinity, max = -kInfinity;

  void take(double lo, double hi) {
    min = std::min(min, lo);
    max = std::max(max, hi);
  }
};

int64_t run_id_of(const Item& item) {
  return item.is_of_all_runs ? kAllRuns : static_cast<int64_t>(item.run->id);
}

SeriesReader lens_of(const Question& q, const Item& item, ThreadPool* pool) {
  return {*item.series, {q.source, item.run->id, q.view}, pool};
}

// Jobs of several series each: a thousand short series are not a thousand hand-overs.
void for_each_item(size_t count, ThreadPool& pool, const std::function<void(size_t)>& fn) {
  const size_t per_job = std::clamp<size_t>(count / (pool.size() * 8 + 1), 1, 64);
  pool.for_each((count + per_job - 1) / per_job, [&](size_t j) {
    for (size_t i = j * per_job; i < std::min(count, (j + 1) * per_job); ++i) fn(i);
  });
}

// The smallest x that a scale can show stands in for a range that begins at or below zero.
Extent extent_of(const SeriesReader& lens, Axis axis, Scale scale) {
  const Run& run = lens.run(axis);
  Extent extent{run.min, run.max};
  if (scale != Scale::kLog || extent.min > 0) return extent;
  extent.min = kInfinity;
  Points points;
  if (!lens.is_small()) lens.read(0, lens.size(), points);
  const Points& all = lens.is_small() ? lens.all() : points;
  for (size_t i = 0; i < all.size(); ++i) {
    const double x = lens.x(axis, all.steps[i], all.walls[i]);
    if (x > 0) extent.min = std::min(extent.min, x);
  }
  return extent;
}

// The range asked for, or the extent of everything.
Cut cut_of(const Question& q, const std::vector<Extent>& extents) {
  Cut cut{q.axis, q.scale, 0, 0, q.px};
  if (q.range) {
    std::tie(cut.x0, cut.x1) = *q.range;
    return cut;
  }
  Extent all;
  for (const Extent& extent : extents) all.take(extent.min, extent.max);
  if (all.min <= all.max) {
    cut.x0 = all.min;
    cut.x1 = all.max;
  }
  return cut;
}

uint64_t cells_of(const std::vector<uint64_t>& in_range, size_t px) {
  uint64_t cells = 0;
  for (const uint64_t n : in_range) cells += n <= 2 * px ? n : px;
  return cells;
}

Result<size_t> fitting_px(const std::vector<uint64_t>& in_range, size_t px) {
  while (cells_of(in_range, px) > kMaxCells) {
    if (px <= kFewestPx) {
      return fail(
          Code::kTooLarge,
          fmt::format("{} series are too many for one answer of {} cells; ask for fewer runs",
                      in_range.size(), kMaxCells));
    }
    px = std::max(kFewestPx, px / 2);
  }
  return px;
}

// A number of an element that becomes a column of values.
using Getter = double (*)(const Element&);

struct ValueColumn {
  const char* name;
  Getter get;
};

std::vector<ValueColumn> value_columns(const Wanted& wanted) {
  std::vector<ValueColumn> list;
  if (wanted.min) list.push_back({"min", [](const Element& e) { return e.low(); }});
  if (wanted.max) list.push_back({"max", [](const Element& e) { return e.high(); }});
  if (wanted.mean) list.push_back({"mean", [](const Element& e) { return e.mean(); }});
  if (wanted.first) list.push_back({"first", [](const Element& e) { return e.first; }});
  if (wanted.last) list.push_back({"last", [](const Element& e) { return e.last; }});
  return list;
}

// What one series contributes.
struct Piece {
  std::vector<Element> elements;
  std::vector<double> smooth;
};

template <class T>
Column filled(const char* name, const std::vector<Piece>& pieces, size_t total,
              const std::function<T(const Element&)>& get) {
  Column column = Column::room<T>(name, total);
  T* out = column.data<T>();
  for (const Piece& piece : pieces) {
    for (const Element& e : piece.elements) *out++ = get(e);
  }
  return column;
}

template <class Value>
void add_values(const Question& q, const std::vector<Piece>& pieces, size_t total,
                std::vector<Column>& columns) {
  for (const ValueColumn& c : value_columns(q.wanted)) {
    Column column = Column::room<Value>(c.name, total);
    Value* out = column.data<Value>();
    for (const Piece& piece : pieces) {
      for (const Element& e : piece.elements) *out++ = static_cast<Value>(c.get(e));
    }
    columns.push_back(std::move(column));
  }
  if (!q.smoothing.is_on()) return;
  Column column = Column::room<Value>("smooth", total);
  Value* out = column.data<Value>();
  for (const Piece& piece : pieces) {
    for (const double value : piece.smooth) *out++ = static_cast<Value>(value);
  }
  columns.push_back(std::move(column));
}

void add_columns(const Question& q, const std::vector<Piece>& pieces, Picture& picture) {
  size_t total = 0;
  bool has_nan = false;
  for (const Piece& piece : pieces) {
    total += piece.elements.size();
    for (const Element& e : piece.elements) {
      has_nan |= e.finite < e.count;
      picture.x_rounded |= q.axis == Axis::kStep && std::abs(e.x) > kExactStep;
    }
  }
  auto& columns = picture.columns;
  columns.push_back(filled<double>("x", pieces, total, [](const Element& e) { return e.x; }));
  const bool narrow = std::all_of(q.items.begin(), q.items.end(), [](const Item& item) {
    return item.series->value_type() == store::ValueType::kFloat32;
  });
  if (narrow) {
    add_values<float>(q, pieces, total, columns);
  } else {
    add_values<double>(q, pieces, total, columns);
  }
  if (q.wanted.step || q.x_is_tag) {
    columns.push_back(filled<double>("step", pieces, total,
                                     [](const Element& e) { return static_cast<double>(e.step); }));
  }
  if (q.wanted.wall)
    columns.push_back(
        filled<double>("wall", pieces, total, [](const Element& e) { return e.wall; }));
  if (q.wanted.count)
    columns.push_back(
        filled<uint32_t>("count", pieces, total, [](const Element& e) { return e.count; }));
  if (has_nan)
    columns.push_back(filled<uint32_t>("nan", pieces, total,
                                       [](const Element& e) { return e.count - e.finite; }));
}

std::vector<uint64_t> indices_of(const std::vector<Element>& elements) {
  std::vector<uint64_t> indices(elements.size());
  std::transform(elements.begin(), elements.end(), indices.begin(),
                 [](const Element& e) { return e.index; });
  return indices;
}

// Extents and counts of every series; counts wait for the common range when none was asked for.
struct Survey {
  Cut cut;
  std::vector<uint64_t> in_range;
};

Survey survey_of(const Question& q, const std::vector<Item>& items, ThreadPool& pool) {
  Survey survey;
  survey.in_range.resize(items.size());
  std::vector<Extent> extents(items.size());
  const bool range_known = q.range.has_value();
  if (range_known) survey.cut = cut_of(q, extents);
  for_each_item(items.size(), pool, [&](size_t i) {
    const SeriesReader lens = lens_of(q, items[i], &pool);
    if (range_known) {
      survey.in_range[i] = count_in(lens, survey.cut);
    } else {
      extents[i] = extent_of(lens, q.axis, q.scale);
      survey.in_range[i] = lens.size();  // all of it, or a little less where x is odd
    }
  });
  if (!range_known) survey.cut = cut_of(q, extents);
  return survey;
}

Result<Picture> lines(const Question& q, ThreadPool& pool) {
  Survey survey = survey_of(q, q.items, pool);
  SONDE_TRY(const px, fitting_px(survey.in_range, q.px));
  survey.cut.px = px;
  Picture picture{px, survey.cut.x0, survey.cut.x1, survey.cut.width(), false, {}, {}};
  picture.lines.resize(q.items.size());
  std::vector<Piece> pieces(q.items.size());
  for_each_item(q.items.size(), pool, [&](size_t i) {
    const Item& item = q.items[i];
    const SeriesReader lens = lens_of(q, item, &pool);
    Thinned thinned = thin(lens, survey.cut, survey.in_range[i]);
    if (q.smoothing.is_on())
      pieces[i].smooth = smoothed_at(lens, q.smoothing, indices_of(thinned.elements));
    picture.lines[i] = {
        run_id_of(item), item.entry,    item.series,    thinned.elements.size(),
        lens.size(),     thinned.exact, thinned.sorted, lens.size() > 0 ? lens.first_wall() : kNaN};
    pieces[i].elements = std::move(thinned.elements);
  });
  add_columns(q, pieces, picture);
  return picture;
}

Result<Picture> lines_over_tag(const Question& q, ThreadPool& pool) {
  std::vector<Pairs> pairs(q.items.size());
  for_each_item(q.items.size(), pool, [&](size_t i) {
    pairs[i] = paired(*q.items[i].series, *q.items[i].x_series, q.view, q.smoothing);
  });
  Extent all;
  for (const Pairs& p : pairs) all.take(p.min_x, p.max_x);
  Picture picture{q.px, 0, 0, 0, false, {}, {}};
  if (q.range) {
    std::tie(picture.x0, picture.x1) = *q.range;
  } else if (all.min <= all.max) {
    picture.x0 = all.min;
    picture.x1 = all.max;
  }
  std::vector<uint64_t> in_range(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) in_range[i] = pairs[i].count_in(picture.x0, picture.x1);
  SONDE_TRY(const px, fitting_px(in_range, q.px));
  picture.px = px;
  picture.lines.resize(pairs.size());
  std::vector<Piece> pieces(pairs.size());
  for_each_item(pairs.size(), pool, [&](size_t i) {
    PairPiece piece = thinned_pairs(pairs[i], picture.x0, picture.x1, px);
    const Item& item = q.items[i];
    picture.lines[i] = {run_id_of(item), item.entry,  item.series, piece.elements.size(),
                        pairs[i].size(), piece.exact, false,       pairs[i].first_wall};
    pieces[i] = {std::move(piece.elements), std::move(piece.smooth)};
  });
  add_columns(q, pieces, picture);
  return picture;
}

// The x values at which the members of one group are compared.
std::vector<double> grid_of(const Question& q, const GroupSet& group, const Cut& cut,
                            std::span<const uint64_t> in_range, ThreadPool& pool, bool& exact) {
  const bool few =
      std::all_of(in_range.begin(), in_range.end(), [&](uint64_t n) { return n <= 2 * cut.px; });
  if (few) {
    std::vector<std::vector<double>> xs(group.members.size());
    for_each_item(xs.size(), pool, [&](size_t m) {
      const SeriesReader lens = lens_of(q, group.members[m], nullptr);
      for (const Element& e : thin(lens, cut, in_range[m]).elements) {
        if (e.x >= cut.x0 && e.x <= cut.x1) xs[m].push_back(e.x);
      }
    });
    std::vector<double> grid;
    for (auto& member : xs) {
      grid.insert(grid.end(), member.begin(), member.end());
      if (grid.size() < 8 * cut.px) continue;
      std::sort(grid.begin(), grid.end());
      grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
    }
    std::sort(grid.begin(), grid.end());
    grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
    exact = grid.size() <= 2 * cut.px;
    if (exact) return grid;
  }
  exact = false;
  std::vector<double> grid(cut.px + 1);
  const double t0 = std::isnan(scaled(cut.scale, cut.x0)) ? -307.0 : scaled(cut.scale, cut.x0);
  for (size_t i = 0; i <= cut.px; ++i) {
    const double t = t0 + cut.width() * static_cast<double>(i);
    grid[i] = cut.scale == Scale::kLinear ? t
              : cut.scale == Scale::kLog  ? std::pow(10.0, t)
                                          : std::copysign(std::pow(10.0, std::abs(t)) - 1, t);
  }
  grid.front() = cut.x0;  // both ends without rounding, so that the first and last points count
  grid.back() = cut.x1;
  if (q.axis == Axis::kStep) {  // there is no step 510.071
    for (double& x : grid) x = std::round(x);
    grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  }
  return grid;
}

Result<Picture> bands(const Question& q, ThreadPool& pool) {
  std::vector<Item> all;
  for (const GroupSet& group : q.groups)
    all.insert(all.end(), group.members.begin(), group.members.end());
  Survey survey = survey_of(q, all, pool);
  size_t px = q.px;
  while (q.groups.size() * 2 * px > kMaxCells && px > kFewestPx) px /= 2;
  if (q.groups.size() * 2 * px > kMaxCells)
    return fail(Code::kTooLarge, fmt::format("{} groups are too many for one answer; ask for fewer",
                                             q.groups.size()));
  survey.cut.px = px;
  Picture picture{px, survey.cut.x0, survey.cut.x1, survey.cut.width(), false, {}, {}};
  std::vector<double> x, centre, lo, hi;
  std::vector<uint16_t> members;
  size_t at = 0;
  for (const GroupSet& group : q.groups) {
    bool exact = false;
    const std::span<const uint64_t> in_range(survey.in_range.data() + at, group.members.size());
    at += group.members.size();
    const std::vector<double> grid = grid_of(q, group, survey.cut, in_range, pool, exact);
    std::vector<std::vector<double>> rows(group.members.size());
    std::vector<double> first(rows.size());
    for_each_item(rows.size(), pool, [&](size_t m) {
      const SeriesReader lens = lens_of(q, group.members[m], &pool);
      rows[m] = interpolated(lens, q.axis, q.smoothing, grid);
      first[m] = lens.first_wall();
    });
    const Band band = band_of(rows, grid.size(), *q.rule, &pool);
    Line line{-1 - static_cast<int64_t>(group.set),
              group.entry,
              nullptr,
              0,
              rows.size(),
              exact,
              false,
              kNaN};
    if (!rows.empty()) {
      line.series = group.members[0].series;
      line.first_wall = *std::min_element(first.begin(), first.end());
    }
    for (size_t i = 0; i < grid.size(); ++i) {
      if (band.members[i] == 0) continue;
      ++line.n;
      x.push_back(grid[i]);
      centre.push_back(band.centre[i]);
      lo.push_back(band.lo[i]);
      hi.push_back(band.hi[i]);
      members.push_back(band.members[i]);
    }
    picture.lines.push_back(line);
  }
  picture.columns = {Column::of("x", x), Column::of("centre", centre), Column::of("lo", lo),
                     Column::of("hi", hi), Column::of("members", members)};
  return picture;
}

}  // namespace

Result<Picture> columns(const Question& question, ThreadPool& pool) {
  if (question.rule) return bands(question, pool);
  if (question.x_is_tag) return lines_over_tag(question, pool);
  return lines(question, pool);
}

}  // namespace sonde::query
