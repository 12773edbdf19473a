// GET trace/slice: everything the capture knows about one slice.
#include <fmt/format.h>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "capture/trace/questions.h"

namespace sonde::api::v1 {
namespace {

using trace::kNone;
using trace::SliceId;
using trace::Trace;

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

}  // namespace

void write_slice(JsonWriter& json, const Trace& trace, SliceId s) {
  json.key("slice").number(s);
  json.key("name").string(trace.shown_name(s));
  json.key("track").number(trace.track_of(s));
  json.key("depth").number(static_cast<uint32_t>(trace.depth(s)));
  json.key("begin").safe_integer(trace.begin(s).value);
  json.key("dur").safe_integer(trace.duration(s).value);
}

Answer trace_slice(const Context& context, const Request& request) {
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

}  // namespace sonde::api::v1
