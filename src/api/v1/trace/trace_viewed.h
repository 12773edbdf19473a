// The host of a capture that a request of the trace viewer is about, and the answers that live in
// files of their own.
#pragma once

#include <memory>

#include "api/routes.h"
#include "api/services/captures.h"
#include "base/units.h"
#include "capture/analysis/analysis.h"
#include "capture/analysis/arrows.h"
#include "capture/trace/level_of_detail.h"
#include "codec/json.h"
#include "codec/json_read.h"

namespace sonde::api::v1 {

struct Viewed {
  std::shared_ptr<const Capture> capture;
  const trace::LevelOfDetail* lod = nullptr;
  std::shared_ptr<const trace::Trace> trace;
  const capture::HostAnalysis* analysis = nullptr;
  size_t host = 0;         // of all hosts: the first
  bool is_merged = false;  // all hosts on one axis
};

// By the parameters `session` and `host` (its index, or "all"). kNewest looks whether the files have changed
// since: the first question of a viewer. Its other ones are about what it then got.
enum class Fresh : uint8_t { kNewest, kAsShown };
Result<Viewed> viewed(const Context& context, const Request& request,
                      Fresh fresh = Fresh::kAsShown);

// The range of times that a question is about. A client may send any number: those here are so far
// from the ends of int64 that two of them can be added and subtracted.
struct TimeRange {
  Picos begin, end;
};
TimeRange time_range(int64_t begin, int64_t end);

// `t0` and `t1` of the object; the whole trace without them.
Result<TimeRange> time_range_in(const JsonValue& body, const trace::Trace& trace);

// Arrows of the host's slices (profile/arrows.h).
struct Arrows {
  const Viewed& viewed;

  // Calls fn(Flow) for all of them.
  template <class Fn>
  void for_each(const Fn& fn) const {
    if (!viewed.is_merged) return capture::for_each_arrow(*viewed.analysis, fn);
    // Ids of launches are a host's own: only what its arrows became is meant.
    for (const trace::Flow& flow : viewed.trace->flows()) fn(flow);
  }
};

// Where a slice is and how long it took, as fields of an object.
void write_slice(JsonWriter& json, const trace::Trace& trace, trace::SliceId slice);

Answer trace_view(const Context& context, const Request& request);
Answer trace_counters(const Context& context, const Request& request);
Answer trace_slice(const Context& context, const Request& request);
Answer trace_search(const Context& context, const Request& request);
Answer trace_stats(const Context& context, const Request& request);
Answer trace_flame(const Context& context, const Request& request);
Answer trace_counter_stats(const Context& context, const Request& request);
Answer trace_about(const Context& context, const Request& request);
Answer trace_steps(const Context& context, const Request& request);
Answer trace_flows(const Context& context, const Request& request);
Answer trace_schema(const Context& context, const Request& request);
Answer trace_sql(const Context& context, const Request& request);

}  // namespace sonde::api::v1
