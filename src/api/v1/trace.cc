// POST trace (a dropped file) and the questions of the trace viewer: tracks, names, view, slice,
// search, stats, flame, export. A session is named by the parameter `session`, a host by its index
// `host`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/captures.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "api/v1/trace_viewed.h"
#include "query/column_file.h"
#include "trace/questions.h"

namespace sonde::api::v1 {
namespace {

using trace::kNone;
using trace::LevelOfDetail;
using trace::SliceId;
using trace::Trace;
using trace::TrackId;
using trace::TrackKind;

constexpr size_t kMostCells = 15000;    // 17 bytes each: 256 kB
constexpr uint32_t kLeastPixels = 250;  // of a row: rather fold deep rows than merge further

std::string_view kind_name(TrackKind kind) {
  switch (kind) {
    case TrackKind::kProcess:
      return "process";
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kAsync:
      return "async";
    case TrackKind::kAggregate:
      return "aggregate";
  }
  return "";
}

Answer upload(const Context& context, const Request& request) {
  if (auto allowed = may_write(request); !allowed) return error(allowed.error());
  const std::string name(request.param("name").value_or("dropped file"));
  SONDE_ANSWER(id, Captures::of(context).keep_upload(context, name, request.body));
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("session").string(id); });
  return Answer::json(std::move(body));
}

Answer tracks(const Context& context, const Request& request) {
  SONDE_ANSWER(view, viewed(context, request, Fresh::kNewest));
  const Trace& trace = *view.trace;
  view.lod->prepare(context.pool);  // the first picture follows
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("format").string(trace.format());
    json.key("t0").safe_integer(trace.first_begin().value);
    json.key("t1").safe_integer(trace.last_end().value);
    json.key("slices").number(trace.slice_count());
    json.key("flows").number(static_cast<uint64_t>(trace.flows().size()));
    json.key("arrows").boolean(!trace.flows().empty() || trace.key("correlation_id") != kNone ||
                               trace.key("_p") != kNone);
    if (trace.start_ns()) json.key("start_ns").safe_integer(*trace.start_ns());
    json.key("names").number(static_cast<uint64_t>(trace.labels().size()));
    json.key("tracks").array([&] {
      for (TrackId t = 0; t < trace.tracks().size(); ++t) {
        const trace::Track& track = trace.tracks()[t];
        json.object([&] {
          json.key("id").number(t);
          json.key("name").string(trace.shown_track_name(t));
          json.key("kind").string(kind_name(track.kind));
          if (track.parent != kNone) json.key("parent").number(track.parent);
          json.key("order").number(track.order);
          json.key("slices").number(track.slices);
          json.key("points").number(track.points);
          json.key("depth").number(static_cast<uint32_t>(track.depth));
          json.key("busy").safe_integer(view.lod->busy(t).value);
        });
      }
    });
    json.key("diagnostics").array([&] {
      for (const auto& d : trace.diagnostics()) json.string(d.text);
    });
  });
  return json_answer(context, 0, std::move(body));
}

Answer names(const Context& context, const Request& request) {
  SONDE_ANSWER(view, viewed(context, request));
  SONDE_ANSWER(from, integer_param(request, "from", 0));
  constexpr size_t kMost = 20000;
  const auto& labels = view.trace->labels();
  const size_t first = std::min(labels.size(), static_cast<size_t>(std::max<int64_t>(0, from)));
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("from").number(static_cast<uint64_t>(first));
    json.key("total").number(static_cast<uint64_t>(labels.size()));
    json.key("names").array([&] {
      for (size_t i = first; i < std::min(labels.size(), first + kMost); ++i) {
        // Names of kernels run to kilobytes of template text; a label on a slice needs no more.
        json.string(view.trace->shown_name_of(labels[i]).substr(0, 200));
      }
    });
  });
  return json_answer(context, 0, std::move(body));
}

// --- view ---

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

// Cells of all rows at a merging width of `pixels`; stops early when they exceed the budget.
std::vector<DrawnRow> draw(const LevelOfDetail& lod, const std::vector<RowQuery>& queries,
                           const trace::Viewport& port, size_t deepest, size_t& cells) {
  std::vector<DrawnRow> drawn;
  cells = 0;
  for_each_row(lod, queries, deepest, [&](TrackId track, uint32_t depth, const trace::Row& row) {
    drawn.push_back({track, depth, true, {}});
    DrawnRow& mine = drawn.back();
    mine.is_exact = row.view(port, mine.cells);
    cells += mine.cells.size();
    return cells <= kMostCells;
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

std::string view_file(const std::vector<DrawnRow>& rows, const trace::Viewport& port,
                      uint32_t merged_pixels, bool is_folded) {
  // Ticks so coarse that the range fits 31 bits; one tick is far below a pixel.
  const int64_t tick = std::max<int64_t>(1, (port.end - port.begin).value >> 30);
  std::vector<uint32_t> start, duration, name, slice, row_track, row_depth, row_cells;
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
    }
  }
  const auto list = [](JsonWriter& json, std::string_view key, const auto& values) {
    json.key(key).array([&] {
      for (const auto value : values) json.number(static_cast<uint32_t>(value));
    });
  };
  using query::Column;
  return query::column_file(
      {Column::of("start", start), Column::of("dur", duration), Column::of("name", name),
       Column::of("slice", slice), Column::of("busy", busy)},
      [&](JsonWriter& json) {
        json.key("t0").safe_integer(port.begin.value);
        json.key("t1").safe_integer(port.end.value);
        json.key("tick_ps").safe_integer(tick);
        json.key("px").number(merged_pixels);
        json.key("folded").boolean(is_folded);
        json.key("rows").object([&] {
          list(json, "track", row_track);
          list(json, "depth", row_depth);
          list(json, "n", row_cells);
          list(json, "exact", row_exact);
        });
      });
}

Answer view(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(t0, integer_in(body, "t0", found.trace->first_begin().value));
  SONDE_ANSWER(t1, integer_in(body, "t1", found.trace->last_end().value));
  SONDE_ANSWER(px, integer_in(body, "px", 1000));
  SONDE_ANSWER(rows, rows_in(body, *found.trace));
  if (t1 <= t0) return error({Code::kInvalid, "t1 must be after t0"});
  trace::Viewport port{{t0}, {t1}, static_cast<uint32_t>(std::clamp<int64_t>(px, 1, 8192))};
  // Too many cells: first merge over wider pixels, then leave the deepest rows folded.
  size_t cells = 0, deepest = SIZE_MAX;
  // Without drawing what would be too much: drawing it once more costs as much again.
  for (size_t about;
       port.pixels > kLeastPixels && (about = cells_about(*found.lod, rows, port)) > kMostCells;) {
    const auto fitting = static_cast<uint32_t>(uint64_t{port.pixels} * kMostCells / about);
    port.pixels = std::max(kLeastPixels, std::min(fitting, port.pixels / 8 * 7));
  }
  auto drawn = draw(*found.lod, rows, port, deepest, cells);
  while (cells > kMostCells && port.pixels > kLeastPixels) {
    port.pixels = std::max(kLeastPixels, port.pixels / 4 * 3);
    drawn = draw(*found.lod, rows, port, deepest, cells);
  }
  if (cells > kMostCells) {
    for (deepest = 8; cells > kMostCells && deepest > 0; deepest /= 2)
      drawn = draw(*found.lod, rows, port, deepest - 1, cells);
  }
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.body = view_file(drawn, port, port.pixels, deepest != SIZE_MAX);
  return answer;
}

Answer counters(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(t0, integer_in(body, "t0", found.trace->first_begin().value));
  SONDE_ANSWER(t1, integer_in(body, "t1", found.trace->last_end().value));
  SONDE_ANSWER(px, integer_in(body, "px", 1000));
  SONDE_ANSWER(rows, rows_in(body, *found.trace));
  const trace::Viewport port{
      {t0}, {std::max(t1, t0 + 1)}, static_cast<uint32_t>(std::clamp<int64_t>(px, 1, 8192))};
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

// --- one slice, search, sums ---

// The next or the previous slice of the same row; kNone at its end. The scan gives up after so many
// deeper slices that nobody would step over them.
SliceId neighbour(const Trace& trace, SliceId s, int by) {
  const trace::Track& track = trace.tracks()[trace.track_of(s)];
  constexpr int kMostSteps = 200000;
  auto at = static_cast<int64_t>(s) + by;
  for (int n = 0; n < kMostSteps; ++n, at += by) {
    if (at < track.first_slice || at >= static_cast<int64_t>(track.first_slice) + track.slices)
      break;
    if (trace.depth(static_cast<SliceId>(at)) == trace.depth(s)) return static_cast<SliceId>(at);
  }
  return kNone;
}

// Slices of a track are ordered by begin: those inside one follow it.
SliceId last_inside(const Trace& trace, SliceId s) {
  const trace::Track& track = trace.tracks()[trace.track_of(s)];
  SliceId low = s, high = track.first_slice + track.slices - 1;
  while (low < high) {
    const SliceId middle = low + (high - low + 1) / 2;
    if (trace.begin(middle) < trace.end(s)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void write_slice(JsonWriter& json, const Trace& trace, SliceId s) {
  json.key("slice").number(s);
  json.key("name").string(trace.shown_name(s));
  json.key("track").number(trace.track_of(s));
  json.key("depth").number(static_cast<uint32_t>(trace.depth(s)));
  json.key("begin").safe_integer(trace.begin(s).value);
  json.key("dur").safe_integer(trace.duration(s).value);
}

void write_args(JsonWriter& json, const Trace& trace, trace::ArgRange range) {
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    const trace::Arg arg = trace.arg(i);
    json.array([&] {
      json.string(trace.key_name(arg.key));
      json.string(trace.printed(arg.value).substr(0, 20000));
    });
  }
}

// What the slices inside this one led to: the kernels of an operator.
void write_launched(JsonWriter& json, const Trace& trace, const Arrows& arrows, SliceId s) {
  constexpr size_t kMost = 50;
  const SliceId last = last_inside(trace, s);
  uint64_t count = 0;
  int64_t time = 0;
  std::vector<SliceId> first;
  arrows.for_each([&](const trace::Flow& flow) {
    if (flow.from <= s || flow.from > last || trace.end(flow.from) > trace.end(s)) return;
    if (flow.to > s && flow.to <= last) return;  // inside as well: nothing was handed on
    ++count;
    time += trace.duration(flow.to).value;
    if (first.size() < kMost) first.push_back(flow.to);
  });
  if (count == 0) return;
  json.key("launched").object([&] {
    json.key("count").number(count);
    json.key("time").safe_integer(time);
    json.key("slices").array([&] {
      for (const SliceId to : first) json.object([&] { write_slice(json, trace, to); });
    });
  });
}

Answer slice(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(id, integer_param(request, "id", -1));
  const Trace& trace = *found.trace;
  if (id < 0 || id >= trace.slice_count())
    return error({Code::kNotFound, fmt::format("there is no slice {}", id)});
  const auto s = static_cast<SliceId>(id);
  const Arrows arrows{found};
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    write_slice(json, trace, s);
    json.key("self").safe_integer(trace::self_time(trace, s).value);
    if (trace.label(s).category != kNone)
      json.key("category").string(trace.text(trace.label(s).category));
    json.key("args").array([&] {
      write_args(json, trace, trace.args(s));
      write_args(json, trace, trace.label(s).args);
    });
    json.key("parents").array([&] {
      for (SliceId above = trace::parent_of(trace, s); above != kNone;
           above = trace::parent_of(trace, above)) {
        json.object([&] { write_slice(json, trace, above); });
      }
    });
    json.key("flows").array([&] {
      arrows.for_each([&](const trace::Flow& flow) {
        if (flow.from != s && flow.to != s) return;
        json.object([&] {
          json.key("direction").string(flow.from == s ? "to" : "from");
          if (flow.kind != kNone) json.key("kind").string(trace.text(flow.kind));
          write_slice(json, trace, flow.from == s ? flow.to : flow.from);
        });
      });
    });
    for (const auto& [key, by] : {std::pair{"next", 1}, std::pair{"previous", -1}}) {
      if (const SliceId other = neighbour(trace, s, by); other != kNone)
        json.key(key).number(other);
    }
    write_launched(json, trace, arrows, s);
  });
  return json_answer(context, 0, std::move(body));
}

Result<trace::Selection> selection_in(const JsonValue& body, const Trace& trace) {
  SONDE_TRY(t0, integer_in(body, "t0", trace.first_begin().value));
  SONDE_TRY(t1, integer_in(body, "t1", trace.last_end().value + 1));
  trace::Selection selection{{t0}, {t1}, {}};
  if (const JsonValue* list = body.find("tracks"); list && list->is_array()) {
    for (const JsonValue& item : list->items) {
      const int64_t track = item.integer().value_or(-1);
      if (track >= 0 && static_cast<size_t>(track) < trace.tracks().size())
        selection.tracks.push_back(static_cast<TrackId>(track));
    }
  }
  return selection;
}

Answer search(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  SONDE_ANSWER(text, text_in(body, "q"));
  SONDE_ANSWER(after, integer_in(body, "after", int64_t{kNone}));
  SONDE_ANSWER(limit, integer_in(body, "limit", 100));
  SONDE_ANSWER(px, integer_in(body, "px", 0));
  trace::Search question{text, selection,
                         static_cast<SliceId>(std::clamp<int64_t>(after, 0, kNone)),
                         static_cast<uint32_t>(std::clamp<int64_t>(limit, 0, 1000)),
                         static_cast<uint32_t>(std::clamp<int64_t>(px, 0, 8192))};
  SONDE_ANSWER(hits, trace::search(*found.trace, question));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(hits.total);
    json.key("hits").array([&] {
      for (const SliceId s : hits.slices) json.object([&] { write_slice(json, *found.trace, s); });
    });
    json.key("per_px").array([&] {
      for (const uint32_t count : hits.per_pixel) json.number(count);
    });
  });
  return json_answer(context, 0, std::move(out));
}

Answer stats(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  SONDE_ANSWER(limit, integer_in(body, "limit", 200));
  const auto rows = trace::totals(*found.trace, selection);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(rows.size()));
    json.key("rows").array([&] {
      for (size_t i = 0;
           i < std::min(rows.size(), static_cast<size_t>(std::max<int64_t>(0, limit))); ++i) {
        const trace::NameTotal& row = rows[i];
        json.object([&] {
          json.key("name").string(
              found.trace->shown_name_of(found.trace->labels()[row.label]).substr(0, 500));
          json.key("label").number(row.label);
          json.key("count").number(row.count);
          json.key("total").safe_integer(row.total.value);
          json.key("self").safe_integer(row.self.value);
          json.key("mean").number(static_cast<double>(row.total.value) /
                                  static_cast<double>(row.count));
          json.key("p50").safe_integer(row.p50.value);
          json.key("p99").safe_integer(row.p99.value);
          json.key("max").safe_integer(row.longest.value);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(out));
}

Answer flame(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  const auto nodes = trace::flame(*found.trace, selection);
  // Less than a thousandth of the whole is narrower than a pixel; it stays in its parent's total.
  const int64_t least = nodes.empty() ? 0 : nodes[0].total.value / 2000;
  std::vector<uint32_t> shown(nodes.size(), kNone);
  uint32_t next = 0;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("nodes").array([&] {
      for (size_t i = 0; i < nodes.size(); ++i) {
        const trace::FlameNode& node = nodes[i];
        if (i > 0 && (node.total.value < least || shown[node.parent] == kNone)) continue;
        shown[i] = next++;
        json.object([&] {
          json.key("name").string(
              i == 0
                  ? "all"
                  : found.trace->shown_name_of(found.trace->labels()[node.label]).substr(0, 300));
          if (i > 0) json.key("parent").number(shown[node.parent]);
          json.key("count").number(node.count);
          json.key("total").safe_integer(node.total.value);
          json.key("self").safe_integer(node.self.value);
        });
      }
    });
    json.key("left_out").number(static_cast<uint64_t>(nodes.size() - next));
  });
  return json_answer(context, 0, std::move(out));
}

Answer export_json(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(t0, integer_param(request, "t0", found.trace->first_begin().value));
  SONDE_ANSWER(t1, integer_param(request, "t1", found.trace->last_end().value + 1));
  trace::Selection part{{t0}, {t1}, {}};
  for (const auto& [key, value] : request.query) {
    if (key != "track") continue;
    uint32_t track = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), track);
    if (problem != std::errc{} || end != value.data() + value.size() ||
        track >= found.trace->tracks().size())
      return error({Code::kInvalid, fmt::format("there is no track '{}'", value)});
    part.tracks.push_back(track);
  }
  Answer answer;
  answer.stream = std::make_shared<Stream>();
  answer.stream->next = trace::chrome_json(found.trace, std::move(part));
  answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"trace.json\"");
  return answer;
}

// A picture must not wait behind an analysis; of a capture that has yet to be read everything takes
// long.
Effort effort_of_looking(const Context& context, const Request& request) {
  const bool is_loaded =
      Captures::of(context).is_loaded(request.param("session").value_or(std::string_view()));
  return is_loaded ? Effort::kShort : Effort::kLong;
}
Effort effort_of_counting(const Context&, const Request&) { return Effort::kLong; }

constexpr Route kRoutes[] = {
    {"POST", "/api/v1/trace", upload},
    {"GET", "/api/v1/trace/tracks", tracks, kMaxBodyBytes, effort_of_looking},
    {"GET", "/api/v1/trace/names", names, kMaxBodyBytes, effort_of_looking},
    {"POST", "/api/v1/trace/view", view, kMaxBodyBytes, effort_of_looking},
    {"POST", "/api/v1/trace/counters", counters, kMaxBodyBytes, effort_of_looking},
    {"GET", "/api/v1/trace/slice", slice},
    {"POST", "/api/v1/trace/search", search, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/stats", stats, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/flame", flame, kMaxBodyBytes, effort_of_counting},
    {"GET", "/api/v1/trace/export", export_json},
    {"GET", "/api/v1/trace/steps", trace_steps, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/flows", trace_flows, kMaxBodyBytes, effort_of_counting},
};

}  // namespace

std::span<const Route> trace_routes() { return kRoutes; }

}  // namespace sonde::api::v1
