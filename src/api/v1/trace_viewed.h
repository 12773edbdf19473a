// The host of a capture that a request of the trace viewer is about, and the answers that live in
// files of their own.
#pragma once

#include <memory>

#include "api/captures.h"
#include "api/routes.h"
#include "base/json.h"
#include "profile/analysis.h"
#include "trace/level_of_detail.h"

namespace sonde::api::v1 {

struct Viewed {
  std::shared_ptr<const Capture> capture;
  const trace::LevelOfDetail* lod = nullptr;
  std::shared_ptr<const trace::Trace> trace;
  size_t host = 0;
};

// By the parameters `session` and `host` (its index). kNewest looks whether the files have changed
// since: the first question of a viewer. Its other ones are about what it then got.
enum class Fresh : uint8_t { kNewest, kAsShown };
Result<Viewed> viewed(const Context& context, const Request& request,
                      Fresh fresh = Fresh::kAsShown);

// An arrow between two slices: recorded as such in the file, or, where a file has none (XSpace),
// what the slices' ids say: a launch and the device work it started, a producer and its consumer.
struct Arrows {
  const Viewed& viewed;

  bool are_recorded() const { return !viewed.trace->flows().empty(); }
  // Calls fn(Flow) for all of them.
  template <class Fn>
  void for_each(const Fn& fn) const {
    if (are_recorded()) {
      for (const trace::Flow& flow : viewed.trace->flows()) fn(flow);
      return;
    }
    constexpr uint32_t kCrowd = 16;  // a meeting of more is a barrier, not an arrow
    const profile::Forest& forest = viewed.capture->session.analysis().hosts[viewed.host]->forest();
    for (uint32_t m = 0; m < forest.meeting_count(); ++m) {
      const auto& meeting = forest.meeting(m);
      if (uint64_t{meeting.producer_count} * meeting.consumer_count > kCrowd) continue;
      for (uint32_t p = 0; p < meeting.producer_count; ++p) {
        for (uint32_t c = 0; c < meeting.consumer_count; ++c) {
          fn(trace::Flow{forest.member(meeting.first + p),
                         forest.member(meeting.first + meeting.producer_count + c), trace::kNone});
        }
      }
    }
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

}  // namespace sonde::api::v1
