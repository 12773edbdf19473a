#include "capture/import/perfetto/placer.h"

#include <algorithm>
#include <tuple>

namespace sonde::imports::perfetto {

using trace::kNone;
using trace::SliceId;

Placer::Placer(trace::Builder& builder, Tracks& tracks)
    : builder_(builder),
      tracks_(tracks),
      phase_(builder.key("phase")),
      instant_(builder.string("instant")) {}

void Placer::survey(uint64_t track, int64_t time, Type type, uint32_t args) {
  tracks_.mention(track);
  Lane& lane = lanes_[track];
  lane.is_sorted &= time >= lane.last;
  lane.last = time;
  earliest_ = std::min(earliest_, time);
  latest_ = std::max(latest_, time);
  slices_ += type == kBegin || type == kInstant;
  points_ += type == kCounter;
  args_ += args + (type == kInstant ? 1 : 0);
}

void Placer::surveyed() {
  // Nested arguments become several; should there be many, the columns grow.
  builder_.reserve(slices_, args_);
  builder_.reserve_points(points_);
}

void Placer::take(const Event& event, std::span<const trace::Arg> args,
                  std::span<const uint64_t> flows) {
  Lane& lane = lanes_[event.track];
  if (lane.is_sorted) return place(lane, event, args, flows);
  waiting_.push_back(event);
  waiting_args_.insert(waiting_args_.end(), args.begin(), args.end());
  waiting_flows_.insert(waiting_flows_.end(), flows.begin(), flows.end());
}

void Placer::place(Lane& lane, const Event& event, std::span<const trace::Arg> args,
                   std::span<const uint64_t> flows) {
  if (event.type == kEnd) {
    if (lane.open.empty()) {
      ++stray_ends_;
      return;
    }
    const SliceId slice = lane.open.back();
    builder_.set_duration(slice, {event.time - builder_.begin_of(slice).value});
    lane.open.pop_back();
    return;
  }
  if (event.type == kCounter) {
    const Described& d = tracks_.of(event.track);
    double value = event.value * static_cast<double>(d.multiplier);
    if (d.is_incremental) value = lane.sum += value;
    if (lane.values == kNone) lane.values = tracks_.counter_of(event.track);
    builder_.point(lane.values, {event.time}, value);
    return;
  }
  if (lane.slices == kNone) lane.slices = tracks_.lane_of(event.track);
  const SliceId slice = builder_.slice(lane.slices, {event.time}, {0}, event.label);
  for (const trace::Arg& arg : args) builder_.arg(arg.key, arg.value);
  if (event.type == kInstant) builder_.arg(phase_, {trace::ArgType::kText, instant_});
  for (size_t k = 0; k < flows.size(); ++k)
    flow_ends_.push_back({flows[k], slice, k >= event.flows});
  if (event.type == kBegin) lane.open.push_back(slice);
}

// A flow goes from one slice that names it to the next in time, until one ends it.
void Placer::connect() {
  std::sort(flow_ends_.begin(), flow_ends_.end(), [&](const FlowEnd& a, const FlowEnd& b) {
    return std::tuple(a.id, builder_.begin_of(a.slice), a.slice, a.ends) <
           std::tuple(b.id, builder_.begin_of(b.slice), b.slice, b.ends);
  });
  const trace::StringId kind = builder_.string("flow");
  for (size_t i = 1; i < flow_ends_.size(); ++i) {
    const FlowEnd &from = flow_ends_[i - 1], &to = flow_ends_[i];
    if (from.id == to.id && !from.ends) builder_.flow(from.slice, to.slice, kind);
  }
  flow_ends_ = {};
}

void Placer::finish() {
  std::vector<uint32_t> by_time(waiting_.size());
  std::vector<std::pair<size_t, size_t>> first(waiting_.size());  // argument and flow of each
  size_t arg = 0, flow = 0;
  for (uint32_t i = 0; i < waiting_.size(); ++i) {
    by_time[i] = i;
    first[i] = {arg, flow};
    arg += waiting_[i].args;
    flow += waiting_[i].flows + waiting_[i].ending;
  }
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](uint32_t a, uint32_t b) { return waiting_[a].time < waiting_[b].time; });
  for (const uint32_t i : by_time) {
    const Event& event = waiting_[i];
    place(lanes_[event.track], event, std::span(waiting_args_).subspan(first[i].first, event.args),
          std::span(waiting_flows_).subspan(first[i].second, event.flows + event.ending));
  }
  waiting_ = {};
  waiting_args_ = {};
  waiting_flows_ = {};
  for (const auto& [uuid, lane] : lanes_) {
    for (const SliceId slice : lane.open) {
      builder_.set_duration(slice, {latest_ - builder_.begin_of(slice).value});
      ++unfinished_;
    }
  }
  connect();
}

}  // namespace sonde::imports::perfetto
