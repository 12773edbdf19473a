// The routes of the trace viewer, and those that are about the whole capture: POST trace (a dropped
// file), tracks, names, export. A session is named by the parameter `session`, a host by its index
// `host`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/services/captures.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "capture/trace/questions.h"

namespace sonde::api::v1 {
namespace {

using trace::kNone;
using trace::Trace;
using trace::TrackId;

Answer upload(const Context& context, const Request& request) {
  if (auto allowed = may_write(request); !allowed) return error(allowed.error());
  const std::string name(request.param("name").value_or("dropped file"));
  SONDE_ANSWER(content, request.content());
  SONDE_ANSWER(id, context.services.captures().keep_upload(context, name, as_bytes(content),
                                                           request.param("into").value_or("")));
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("session").string(id); });
  return Answer::json(std::move(body));
}

// A viewer cannot draw a hundred thousand tracks, and a page that tries stands still. Of a crowd
// the busiest are listed with what is above them; search, sums and SQL still see all.
constexpr size_t kMostTracks = 20'000;

std::vector<bool> listed_tracks(const Trace& trace, const trace::LevelOfDetail& lod) {
  const auto& all = trace.tracks();
  std::vector<bool> is_listed(all.size(), all.size() <= kMostTracks);
  if (all.size() <= kMostTracks) return is_listed;
  std::vector<std::pair<int64_t, TrackId>> order;  // busiest first, earlier ones among equals
  for (TrackId t = 0; t < all.size(); ++t) {
    if (all[t].slices + all[t].points > 0) order.emplace_back(-lod.busy(t).value, t);
  }
  std::sort(order.begin(), order.end());
  size_t count = 0;
  for (const auto& [busy, track] : order) {
    if (count + 8 > kMostTracks) break;  // room for what may be above it
    TrackId t = track;
    for (int depth = 0; depth < 8 && t < all.size() && !is_listed[t]; ++depth, t = all[t].parent) {
      is_listed[t] = true;
      ++count;
    }
  }
  return is_listed;
}

Answer tracks(const Context& context, const Request& request) {
  SONDE_ANSWER(view, viewed(context, request, Fresh::kNewest));
  const Trace& trace = *view.trace;
  view.lod->prepare(context.pool);  // the first picture follows
  const std::vector<bool> is_listed = listed_tracks(trace, *view.lod);
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
        if (!is_listed[t]) continue;
        const trace::Track& track = trace.tracks()[t];
        json.object([&] {
          json.key("id").number(t);
          json.key("name").string(trace.shown_track_name(t));
          json.key("kind").string(trace::name_of(track.kind));
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
      if (trace.tracks().size() > kMostTracks)
        json.string(fmt::format(
            "the capture has {} tracks; the {} busiest are shown, search and "
            "SQL see all",
            trace.tracks().size(), std::count(is_listed.begin(), is_listed.end(), true)));
    });
  });
  return json_answer(context, 0, std::move(body));
}

// The categories of the trace's labels, each once, in the order of the labels.
struct Categories {
  explicit Categories(const Trace& trace) : places(trace.string_count(), kNone) {
    for (const trace::Label& label : trace.labels()) {
      if (label.category >= places.size() || places[label.category] != kNone) continue;
      places[label.category] = static_cast<uint32_t>(all.size());
      all.push_back(label.category);
    }
  }
  int64_t place_of(trace::StringId category) const {  // -1: none
    return category < places.size() ? int64_t{places[category]} : int64_t{-1};
  }
  std::vector<trace::StringId> all;
  std::vector<uint32_t> places;  // by text, kNone for texts that are no category
};

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
    const Categories categories(*view.trace);
    if (categories.all.empty()) return;
    json.key("categories").array([&] {
      for (const trace::StringId one : categories.all) json.string(view.trace->text(one));
    });
    json.key("category").array([&] {  // of each name, -1: none
      for (size_t i = first; i < std::min(labels.size(), first + kMost); ++i) {
        json.number(categories.place_of(labels[i].category));
      }
    });
  });
  return json_answer(context, 0, std::move(body));
}

Answer export_json(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(t0, integer_param(request, "t0", found.trace->first_begin().value));
  SONDE_ANSWER(t1, integer_param(request, "t1", found.trace->last_end().value + 1));
  const TimeRange range = time_range(t0, t1);
  trace::Selection part{range.begin, range.end, {}};
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
  auto stream = std::make_shared<Stream>();
  stream->next = trace::chrome_json(found.trace, std::move(part));
  answer.body = std::move(stream);
  answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"trace.json\"");
  return answer;
}

// A picture must not wait behind an analysis; of a capture that has yet to be read everything takes
// long.
Effort lookup_cost(const Context& context, const Request& request) {
  const bool is_loaded =
      context.services.captures().is_loaded(request.param("session").value_or(std::string_view()));
  return is_loaded ? Effort::kShort : Effort::kLong;
}
Effort effort_of_counting(const Context&, const Request&) { return Effort::kLong; }

constexpr Route kRoutes[] = {
    {"POST", "/api/v1/trace", upload, kMaxUploadBytes, effort_of_counting},
    {"GET", "/api/v1/trace/tracks", tracks, kMaxBodyBytes, lookup_cost},
    {"GET", "/api/v1/trace/names", names, kMaxBodyBytes, lookup_cost},
    {"POST", "/api/v1/trace/view", trace_view, kMaxBodyBytes, lookup_cost},
    {"POST", "/api/v1/trace/counters", trace_counters, kMaxBodyBytes, lookup_cost},
    {"GET", "/api/v1/trace/slice", trace_slice},
    {"POST", "/api/v1/trace/search", trace_search, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/stats", trace_stats, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/flame", trace_flame, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/counter_stats", trace_counter_stats, kMaxBodyBytes, effort_of_counting},
    {"GET", "/api/v1/trace/about", trace_about, kMaxBodyBytes, effort_of_counting},
    {"GET", "/api/v1/trace/export", export_json},
    {"GET", "/api/v1/trace/steps", trace_steps, kMaxBodyBytes, effort_of_counting},
    {"POST", "/api/v1/trace/flows", trace_flows, kMaxBodyBytes, effort_of_counting},
    {"GET", "/api/v1/trace/schema", trace_schema},
    {"POST", "/api/v1/trace/sql", trace_sql, kMaxBodyBytes, effort_of_counting},
};

}  // namespace

std::span<const Route> trace_routes() { return kRoutes; }

}  // namespace sonde::api::v1
