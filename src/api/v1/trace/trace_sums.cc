// POST trace/search, trace/stats, trace/counter_stats and trace/flame: what takes a walk over the
// slices of a selection.
#include <algorithm>
#include <optional>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "capture/trace/questions.h"

namespace sonde::api::v1 {
namespace {

using trace::kNone;
using trace::SliceId;
using trace::Trace;
using trace::TrackId;

std::vector<TrackId> tracks_in(const JsonValue& body, const Trace& trace) {
  std::vector<TrackId> tracks;
  const JsonValue* list = body.find("tracks");
  if (!list || !list->is_array()) return tracks;
  for (const JsonValue& item : list->items) {
    const int64_t track = item.integer().value_or(-1);
    if (track >= 0 && static_cast<size_t>(track) < trace.tracks().size())
      tracks.push_back(static_cast<TrackId>(track));
  }
  return tracks;
}

// t0, t1 and tracks, and under `also` the areas added to them.
Result<trace::Selection> selection_in(const JsonValue& body, const Trace& trace) {
  constexpr size_t kMostAreas = 100;
  SONDE_TRY(range, time_range_in(body, trace));
  trace::Selection selection{range.begin, range.end, tracks_in(body, trace)};
  const JsonValue* also = body.find("also");
  if (!also || !also->is_array()) return selection;
  if (also->items.size() > kMostAreas)
    return fail(Code::kInvalid, "'also' may hold at most 100 areas");
  for (const JsonValue& area : also->items) {
    SONDE_TRY(part, time_range_in(area, trace));
    selection.also.push_back({part.begin, part.end, tracks_in(area, trace)});
  }
  return selection;
}

// "name", "track", "process", "category", or an argument's key behind "argument:".
Result<trace::Grouping> grouping_in(const JsonValue& body, const Trace& trace) {
  using trace::GroupBy;
  SONDE_TRY(by, text_in(body, "by", "name"));
  constexpr std::string_view kArgument = "argument:";
  if (by == "name") return trace::Grouping{};
  if (by == "track") return trace::Grouping{GroupBy::kTrack};
  if (by == "process") return trace::Grouping{GroupBy::kProcess};
  if (by == "category") return trace::Grouping{GroupBy::kCategory};
  if (by.starts_with(kArgument)) {
    const trace::KeyId key = trace.key(std::string_view(by).substr(kArgument.size()));
    return trace::Grouping{GroupBy::kArgument, key};
  }
  return fail(Code::kInvalid,
              "'by' must be name, track, process, category or argument:<key of the argument>");
}

// What a group is called; empty for slices without a category or without the argument.
std::string name_of(const Trace& trace, const trace::Grouping& grouping,
                    const trace::GroupTotal& row) {
  constexpr size_t kLongest = 500;
  using trace::GroupBy;
  if (row.group == kNone) return {};
  switch (grouping.by) {
    case GroupBy::kName:
      return std::string(trace.shown_name_of(trace.labels()[row.group]).substr(0, kLongest));
    case GroupBy::kTrack:
    case GroupBy::kProcess:
      return std::string(trace.shown_track_name(row.group).substr(0, kLongest));
    case GroupBy::kCategory:
      return std::string(trace.text(row.group).substr(0, kLongest));
    case GroupBy::kArgument:
      return trace.printed(row.value).substr(0, kLongest);
  }
  return {};
}

// How call stacks are to be put together; nothing: as they were called.
Result<std::optional<trace::FlameShape>> shape_in(const JsonValue& body) {
  using Direction = trace::FlameShape::Direction;
  SONDE_TRY(direction, text_in(body, "direction", "down"));
  if (direction != "down" && direction != "up")
    return fail(Code::kInvalid, "'direction' must be down or up");
  SONDE_TRY(pivot, text_in(body, "pivot"));
  SONDE_TRY(keep, text_in(body, "keep_stack"));
  SONDE_TRY(drop, text_in(body, "drop_stack"));
  SONDE_TRY(without, text_in(body, "drop_frame"));
  if (direction == "down" && pivot.empty() && keep.empty() && drop.empty() && without.empty())
    return std::optional<trace::FlameShape>{};
  return trace::FlameShape{direction == "up" ? Direction::kBottomUp : Direction::kTopDown, pivot,
                           keep, drop, without};
}

}  // namespace

Answer trace_search(const Context& context, const Request& request) {
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

Answer trace_stats(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  SONDE_ANSWER(limit, integer_in(body, "limit", 200));
  SONDE_ANSWER(grouping, grouping_in(body, *found.trace));
  const auto rows = trace::totals(*found.trace, selection, grouping);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(rows.size()));
    json.key("rows").array([&] {
      for (size_t i = 0;
           i < std::min(rows.size(), static_cast<size_t>(std::max<int64_t>(0, limit))); ++i) {
        const trace::GroupTotal& row = rows[i];
        json.object([&] {
          json.key("name").string(name_of(*found.trace, grouping, row));
          if (row.group != kNone) {
            const bool is_label = grouping.by == trace::GroupBy::kName;
            json.key(is_label ? "label" : "id").number(row.group);
          }
          json.key("count").number(row.count);
          json.key("total").safe_integer(row.total.value);
          json.key("self").safe_integer(row.self.value);
          json.key("mean").number(static_cast<double>(row.all.value) /
                                  static_cast<double>(row.count));
          json.key("min").safe_integer(row.shortest.value);
          json.key("p50").safe_integer(row.p50.value);
          json.key("p99").safe_integer(row.p99.value);
          json.key("max").safe_integer(row.longest.value);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(out));
}

Answer trace_flame(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  SONDE_ANSWER(shape, shape_in(body));
  auto nodes = trace::flame(*found.trace, selection);
  if (shape) {
    SONDE_ANSWER(other, trace::reshaped(*found.trace, nodes, *shape));
    nodes = std::move(other);
  }
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

Answer trace_counter_stats(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(selection, selection_in(body, *found.trace));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("rows").array([&] {
      for (const trace::CounterTotal& row : trace::counter_totals(*found.trace, selection)) {
        json.object([&] {
          json.key("track").number(row.track);
          json.key("points").number(row.points);
          json.key("min").number(row.min);
          json.key("max").number(row.max);
          json.key("mean").number(row.mean);
          json.key("first").number(row.first);
          json.key("last").number(row.last);
          json.key("integral").number(row.integral);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(out));
}

}  // namespace sonde::api::v1
