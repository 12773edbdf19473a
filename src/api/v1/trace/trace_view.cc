// POST trace/view and trace/counters: the cells of the rows in view, at most 256 kB of them.
#include <fmt/format.h>

#include <algorithm>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "log/query/series/column_file.h"

namespace sonde::api::v1 {
namespace {

using trace::LevelOfDetail;
using trace::Trace;
using trace::TrackId;

constexpr size_t kMostCells = 15000;  // 17 bytes each: 256 kB; 21 with marks of an argument
constexpr size_t kMostMarked = 12000;
constexpr uint32_t kLeastPixels = 250;  // of a row: rather fold deep rows than merge further

struct RowQuery {
  TrackId track = 0;
  size_t first_depth = 0, last_depth = 0;  // inclusive
};

struct DrawnRow {
  TrackId track = 0;
  uint32_t depth = 0;
  bool is_exact = true;
  std::vector<trace::Cell> cells;
};

Result<trace::Viewport> viewport_in(const JsonValue& body, const Trace& trace) {
  SONDE_TRY(range, time_range_in(body, trace));
  SONDE_TRY(px, integer_in(body, "px", 1000));
  if (range.end <= range.begin) return fail(Code::kInvalid, "t1 must be after t0");
  return trace::Viewport{range.begin, range.end,
                         static_cast<uint32_t>(std::clamp<int64_t>(px, 1, 8192))};
}

Result<std::vector<RowQuery>> rows_in(const JsonValue& body, const Trace& trace) {
  std::vector<RowQuery> rows;
  const JsonValue* list = body.find("rows");
  if (!list || !list->is_array())
    return fail(Code::kInvalid, "'rows' must be a list of {track, depth}");
  for (const JsonValue& item : list->items) {
    SONDE_TRY(track, integer_in(item, "track", -1));
    if (track < 0 || static_cast<size_t>(track) >= trace.tracks().size())
      return fail(Code::kInvalid, fmt::format("there is no track {}", track));
    RowQuery row{static_cast<TrackId>(track), 0, 63};
    if (const JsonValue* depth = item.find("depth");
        depth && depth->is_array() && depth->items.size() == 2) {
      row.first_depth =
          static_cast<size_t>(std::clamp<int64_t>(depth->items[0].integer().value_or(0), 0, 65535));
      row.last_depth = static_cast<size_t>(
          std::clamp<int64_t>(depth->items[1].integer().value_or(63), 0, 65535));
    }
    rows.push_back(row);
  }
  return rows;
}

// The rows that are asked for, down to a depth.
template <class Fn>
void for_each_row(const LevelOfDetail& lod, const std::vector<RowQuery>& queries, size_t deepest,
                  Fn&& fn) {
  for (const RowQuery& query : queries) {
    const auto rows = lod.rows(query.track);
    for (size_t depth = query.first_depth;
         depth < rows.size() && depth <= std::min(query.last_depth, deepest); ++depth) {
      if (!fn(query.track, static_cast<uint32_t>(depth), rows[depth])) return;
    }
  }
}

// How many cells an answer may hold, and how many were drawn.
struct Budget {
  size_t most = kMostCells, cells = 0;
  bool is_exceeded() const { return cells > most; }
};

// Cells of all rows at a merging width of `pixels`; stops early when they exceed the budget.
std::vector<DrawnRow> draw(const LevelOfDetail& lod, const std::vector<RowQuery>& queries,
                           const trace::Viewport& port, size_t deepest, Budget& budget) {
  std::vector<DrawnRow> drawn;
  budget.cells = 0;
  for_each_row(lod, queries, deepest, [&](TrackId track, uint32_t depth, const trace::Row& row) {
    drawn.push_back({track, depth, true, {}});
    DrawnRow& mine = drawn.back();
    mine.is_exact = row.view(port, mine.cells);
    budget.cells += mine.cells.size();
    return !budget.is_exceeded();
  });
  return drawn;
}

size_t cells_about(const LevelOfDetail& lod, const std::vector<RowQuery>& queries,
                   const trace::Viewport& port) {
  size_t cells = 0;
  for_each_row(lod, queries, SIZE_MAX, [&](TrackId, uint32_t, const trace::Row& row) {
    cells += row.cells_about(port);
    return true;
  });
  return cells;
}

// Stands for the value of an argument in a colour: equal values, equal numbers; 0 for none. A
// merged cell has none: its slices may differ.
uint32_t mark_of(const Trace& trace, trace::SliceId s, trace::KeyId key) {
  if (s == trace::kNone) return 0;
  const auto value = trace.find(s, key);
  if (!value) return 0;
  uint32_t hash = 2166136261u;  // FNV-1a: the same on every machine
  for (const char c : trace.printed(*value)) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return std::max<uint32_t>(1, hash);
}

struct ViewFile {
  uint32_t merged_pixels = 0;
  bool is_folded = false;
  const Trace* trace = nullptr;
  trace::KeyId argument = trace::kNone;  // kNone: no column of marks
};

std::string view_file(const std::vector<DrawnRow>& rows, const trace::Viewport& port,
                      const ViewFile& file) {
  // Ticks so coarse that the range fits 31 bits; one tick is far below a pixel.
  const int64_t tick = std::max<int64_t>(1, (port.end - port.begin).value >> 30);
  std::vector<uint32_t> start, duration, name, slice, mark, row_track, row_depth, row_cells;
  std::vector<uint8_t> busy, row_exact;
  size_t cells = 0;
  for (const DrawnRow& row : rows) cells += row.cells.size();
  for (auto* column : {&start, &duration, &name, &slice}) column->reserve(cells);
  busy.reserve(cells);
  for (const DrawnRow& row : rows) {
    row_track.push_back(row.track);
    row_depth.push_back(row.depth);
    row_cells.push_back(static_cast<uint32_t>(row.cells.size()));
    row_exact.push_back(row.is_exact);
    for (const trace::Cell& cell : row.cells) {
      // Parts outside the viewport are cut: the page draws the viewport only.
      const Picos begin = std::max(cell.begin, port.begin),
                  end = std::min(cell.begin + cell.duration, port.end);
      start.push_back(static_cast<uint32_t>((begin - port.begin).value / tick));
      duration.push_back(static_cast<uint32_t>(std::max<int64_t>(0, (end - begin).value) / tick));
      name.push_back(cell.label);
      slice.push_back(cell.slice);
      busy.push_back(cell.busy);
      if (file.argument != trace::kNone)
        mark.push_back(mark_of(*file.trace, cell.slice, file.argument));
    }
  }
  const auto list = [](JsonWriter& json, std::string_view key, const auto& values) {
    json.key(key).array([&] {
      for (const auto value : values) json.number(static_cast<uint32_t>(value));
    });
  };
  using query::Column;
  std::vector<Column> columns{Column::of("start", start), Column::of("dur", duration),
                              Column::of("name", name), Column::of("slice", slice),
                              Column::of("busy", busy)};
  if (file.argument != trace::kNone) columns.push_back(Column::of("mark", mark));
  return query::column_file(columns, [&](JsonWriter& json) {
    json.key("t0").safe_integer(port.begin.value);
    json.key("t1").safe_integer(port.end.value);
    json.key("tick_ps").safe_integer(tick);
    json.key("px").number(file.merged_pixels);
    json.key("folded").boolean(file.is_folded);
    json.key("rows").object([&] {
      list(json, "track", row_track);
      list(json, "depth", row_depth);
      list(json, "n", row_cells);
      list(json, "exact", row_exact);
    });
  });
}

}  // namespace

Answer trace_view(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(port, viewport_in(body, *found.trace));
  SONDE_ANSWER(rows, rows_in(body, *found.trace));
  SONDE_ANSWER(argument, text_in(body, "argument"));
  const trace::KeyId key = argument.empty() ? trace::kNone : found.trace->key(argument);
  // Too many cells: first merge over wider pixels, then leave the deepest rows folded.
  Budget budget{key == trace::kNone ? kMostCells : kMostMarked};
  size_t deepest = SIZE_MAX;
  // Without drawing what would be too much: drawing it once more costs as much again.
  for (size_t about;
       port.pixels > kLeastPixels && (about = cells_about(*found.lod, rows, port)) > budget.most;) {
    const auto fitting = static_cast<uint32_t>(uint64_t{port.pixels} * budget.most / about);
    port.pixels = std::max(kLeastPixels, std::min(fitting, port.pixels / 8 * 7));
  }
  auto drawn = draw(*found.lod, rows, port, deepest, budget);
  while (budget.is_exceeded() && port.pixels > kLeastPixels) {
    port.pixels = std::max(kLeastPixels, port.pixels / 4 * 3);
    drawn = draw(*found.lod, rows, port, deepest, budget);
  }
  if (budget.is_exceeded()) {
    for (deepest = 8; budget.is_exceeded() && deepest > 0; deepest /= 2)
      drawn = draw(*found.lod, rows, port, deepest - 1, budget);
  }
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.body = view_file(drawn, port, {port.pixels, deepest != SIZE_MAX, found.trace.get(), key});
  return answer;
}

Answer trace_counters(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(port, viewport_in(body, *found.trace));
  SONDE_ANSWER(rows, rows_in(body, *found.trace));
  std::vector<double> time, low, high, last;
  std::vector<uint32_t> track, n;
  for (const RowQuery& row : rows) {
    const auto cells = found.lod->counter(row.track, port);
    track.push_back(row.track);
    n.push_back(static_cast<uint32_t>(cells.size()));
    for (const auto& cell : cells) {
      time.push_back(static_cast<double>(cell.time.value));
      low.push_back(cell.min);
      high.push_back(cell.max);
      last.push_back(cell.last);
    }
  }
  using query::Column;
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.body = query::column_file({Column::of("t", time), Column::of("min", low),
                                    Column::of("max", high), Column::of("last", last)},
                                   [&](JsonWriter& json) {
                                     json.key("rows").object([&] {
                                       json.key("track").array([&] {
                                         for (const uint32_t t : track) json.number(t);
                                       });
                                       json.key("n").array([&] {
                                         for (const uint32_t count : n) json.number(count);
                                       });
                                     });
                                   });
  return answer;
}

}  // namespace sonde::api::v1
