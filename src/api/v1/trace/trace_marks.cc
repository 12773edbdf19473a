// GET trace/steps and POST trace/flows: what the viewer draws over the slices, step boundaries and
// arrows.
#include <fmt/format.h>

#include <algorithm>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "capture/analysis/analysis.h"

namespace sonde::api::v1 {
namespace {

using trace::SliceId;
using trace::Trace;

constexpr size_t kMostArrows = 1000;  // about 150 bytes each

void write_end(JsonWriter& json, const Trace& trace, SliceId s) {
  json.object([&] {
    json.key("slice").number(s);
    json.key("track").number(trace.track_of(s));
    json.key("depth").number(static_cast<uint32_t>(trace.depth(s)));
    json.key("begin").safe_integer(trace.begin(s).value);
    json.key("dur").safe_integer(trace.duration(s).value);
  });
}

}  // namespace

TimeRange time_range(int64_t begin, int64_t end) {
  constexpr int64_t kFar = (int64_t{1} << 62) - 1;
  return {{std::clamp(begin, -kFar, kFar)}, {std::clamp(end, -kFar, kFar)}};
}

Result<TimeRange> time_range_in(const JsonValue& body, const trace::Trace& trace) {
  SONDE_TRY(t0, integer_in(body, "t0", trace.first_begin().value));
  SONDE_TRY(t1, integer_in(body, "t1", trace.last_end().value + 1));
  return time_range(t0, t1);
}

Result<Viewed> viewed(const Context& context, const Request& request, Fresh fresh) {
  SONDE_TRY(session, text_param(request, "session"));
  const bool wants_all = request.param("host").value_or("") == "all";
  int64_t host = 0;
  if (!wants_all) {
    SONDE_TRY(index, integer_param(request, "host", 0));
    host = index;
  }
  Viewed found;
  Captures& captures = context.services.captures();
  SONDE_TRY(capture, fresh == Fresh::kNewest ? captures.load(context, session)
                                             : captures.shown(context, session));
  if (host < 0 || static_cast<size_t>(host) >= capture->viewers.size()) {
    return fail(Code::kNotFound, fmt::format("the session has {} hosts, not host number {}",
                                             capture->viewers.size(), host));
  }
  found.host = static_cast<size_t>(host);
  if (wants_all && capture->viewers.size() > 1) {
    const Capture::Merged& all = capture->merged();
    found.is_merged = true;
    found.lod = &all.viewer;
    found.trace = all.session.hosts()[0].trace;
    found.analysis = all.session.analysis().hosts[0].get();
  } else {
    found.lod = capture->viewers[found.host].get();
    found.trace = capture->session.hosts()[found.host].trace;
    found.analysis = capture->session.analysis().hosts[found.host].get();
  }
  found.capture = std::move(capture);
  return found;
}

Answer trace_steps(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  // All hosts stand on the axis of the first.
  const capture::Steps& steps = found.capture->session.analysis().hosts[found.host]->steps();
  const Trace& trace = *found.trace;
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    if (trace.start_ns()) json.key("start_ns").safe_integer(*trace.start_ns());
    json.key("t0").safe_integer(trace.first_begin().value);
    json.key("t1").safe_integer(trace.last_end().value);
    json.key("steps").array([&] {
      for (const capture::Step& step : steps.steps) {
        json.object([&] {
          json.key("name").string(step.name);
          json.key("begin").safe_integer(step.begin);
          json.key("end").safe_integer(step.end);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(body));
}

// Arrows with an end in the range; when there are more than may be drawn, every n-th of them, so
// that they stay spread over the range.
Answer trace_flows(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  const Trace& trace = *found.trace;
  SONDE_ANSWER(range, time_range_in(body, trace));
  SONDE_ANSWER(limit, integer_in(body, "limit", 300));
  SONDE_ANSWER(kind, text_in(body, "kind"));  // empty: arrows of all kinds
  const trace::StringId wanted = trace.string_id(kind);
  const auto within = [&](SliceId s) {
    return trace.end(s) >= range.begin && trace.begin(s) < range.end;
  };
  std::vector<trace::Flow> inside;
  Arrows{found}.for_each([&](const trace::Flow& flow) {
    if (!kind.empty() && (wanted == trace::kNone || flow.kind != wanted)) return;
    if (within(flow.from) || within(flow.to)) inside.push_back(flow);
  });
  const size_t most = static_cast<size_t>(std::clamp<int64_t>(limit, 1, kMostArrows));
  const size_t every = (inside.size() + most - 1) / most;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(inside.size()));
    json.key("flows").array([&] {
      for (size_t i = 0; i < inside.size(); i += every) {
        const trace::Flow& flow = inside[i];
        json.object([&] {
          if (flow.kind != trace::kNone) json.key("kind").string(trace.text(flow.kind));
          json.key("from");
          write_end(json, trace, flow.from);
          json.key("to");
          write_end(json, trace, flow.to);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(out));
}

}  // namespace sonde::api::v1
