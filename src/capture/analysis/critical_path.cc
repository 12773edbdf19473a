#include "capture/analysis/critical_path.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <string_view>
#include <utility>

#include "capture/analysis/analysis.h"
#include "capture/analysis/arrows.h"
#include "capture/analysis/loop/loop.h"
#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture {
namespace {

using trace::kNone;
using trace::SliceId;
using trace::Trace;
using trace::TrackId;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// What the walk asks about a slice, by its label.
struct LabelKind {
  bool is_frame = false;     // of Python, or around a collective: may stand and wait
  bool is_handover = false;  // to the thread of a collective, whose end it may wait for
  bool is_extent = false;    // says how long something lasted, and is no work of a thread
  bool is_launch = false, waits_for_device = false, is_collective = false;
};

// A stretch of a thread in which nothing deeper ran: who owned the moment.
struct Moment {
  int64_t begin = 0, end = 0;
  SliceId slice = kNone;
};

struct DeviceWork {
  int64_t begin = 0, end = 0;
  SliceId slice = kNone, launch = kNone;
  TrackId track = kNone;
  uint32_t before = kNone;  // the one before it on its stream
  PathKind kind = PathKind::kKernel;
};

// One host in the form that the walk needs, times moved to the common axis.
class Lane {
 public:
  Lane(const HostAnalysis& host, int64_t offset) : trace_(host.trace()), offset_(offset) {
    find_kinds(host);
    add_device(host);
    for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
      const trace::Track& track = trace_.tracks()[t];
      if (track.slices == 0 || is_device_[t] || track.kind != trace::TrackKind::kThread) continue;
      threads_.push_back({t, moments_of(track)});
    }
  }

  struct Thread {
    TrackId track;
    std::vector<Moment> moments;  // by time, disjoint
  };

  const Trace& trace() const { return trace_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<DeviceWork>& device() const { return device_; }
  const LabelKind& kind_of(SliceId s) const { return kinds_[trace_.label_id(s)]; }
  int64_t begin_of(SliceId s) const { return trace_.begin(s).value + offset_; }
  int64_t end_of(SliceId s) const { return trace_.end(s).value + offset_; }
  int64_t offset() const { return offset_; }

  // The moment of a thread that holds the time just before t; one that ended earlier when none does.
  const Moment* before(const Thread& thread, int64_t t) const {
    const auto after = std::partition_point(thread.moments.begin(), thread.moments.end(),
                                            [&](const Moment& m) { return m.begin < t; });
    return after == thread.moments.begin() ? nullptr : &*(after - 1);
  }
  // Device work that ended last in (from, until].
  uint32_t ended_in(int64_t from, int64_t until) const {
    auto after = std::partition_point(by_end_.begin(), by_end_.end(),
                                      [&](uint32_t w) { return device_[w].end <= until; });
    if (after == by_end_.begin()) return kNone;
    const uint32_t work = *(after - 1);
    return device_[work].end > from ? work : kNone;
  }
  uint32_t work_of(SliceId s) const {
    const auto found = work_of_.find(s);
    return found == work_of_.end() ? kNone : found->second;
  }
  const Thread* thread_of(SliceId s) const {
    const TrackId track = trace_.track_of(s);
    for (const Thread& thread : threads_) {
      if (thread.track == track) return &thread;
    }
    return nullptr;
  }

 private:
  void find_kinds(const HostAnalysis& host) {
    is_device_.assign(trace_.tracks().size(), false);
    kinds_.resize(trace_.labels().size());
    for (size_t l = 0; l < kinds_.size(); ++l) {
      const trace::Label& label = trace_.labels()[l];
      const std::string_view name = trace_.text(label.name);
      const std::string_view category =
          label.category == kNone ? std::string_view() : trace_.text(label.category);
      LabelKind& kind = kinds_[l];
      kind.is_handover = name.starts_with("c10d::");
      kind.is_frame = category == "python_function" || name.starts_with('$') || kind.is_handover;
      kind.is_launch = category == "cuda_runtime" || category == "cuda_driver" ||
                       category == "runtime" || name.starts_with("cudaLaunch") ||
                       name.starts_with("hipLaunch") || name.starts_with("cuLaunch");
      kind.waits_for_device = has(name, "Synchronize") || has(name, "synchronize") ||
                              name == "cudaMemcpy" || name == "cuMemcpyDtoH_v2" ||
                              name == "hipMemcpy" || name == "hipMemcpyWithStream";
      if (!host.is_pytorch()) continue;
      const pytorch::LabelWord& word = host.pytorch().words.labels[l];
      kind.is_collective = word.is_communication;
      kind.is_extent =
          word.kind == pytorch::Kind::kWindow || word.kind == pytorch::Kind::kDeviceAnnotation;
    }
  }

  void add_work(SliceId s, SliceId launch, TrackId track, PathKind kind) {
    work_of_.emplace(s, static_cast<uint32_t>(device_.size()));
    device_.push_back({begin_of(s), end_of(s), s, launch, track, kNone, kind});
    is_device_[track] = true;
  }

  void add_device(const HostAnalysis& host) {
    if (host.is_pytorch()) {
      const pytorch::Capture& c = host.pytorch();
      for (const pytorch::DeviceEvent& event : c.device) {
        const SliceId launch =
            event.launch == pytorch::kNone ? kNone : c.launches[event.launch].slice;
        add_work(event.slice, launch, trace_.track_of(event.slice),
                 event.is_communication                 ? PathKind::kCollective
                 : event.kind == pytorch::Kind::kKernel ? PathKind::kKernel
                                                        : PathKind::kCopy);
      }
    } else {
      boost::unordered_flat_map<SliceId, SliceId> launched;
      for_each_arrow(host, [&](const trace::Flow& flow) { launched.emplace(flow.to, flow.from); });
      for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
        const trace::Track& track = trace_.tracks()[t];
        if (track.kind != trace::TrackKind::kStream) continue;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          // Of nested lines (steps, modules, operations) the rows that something launched.
          const auto launch = launched.find(s);
          if (trace_.depth(s) > 0 || launch == launched.end()) continue;
          const std::string_view name = trace_.name(s);
          const PathKind kind = has(name, "nccl") || has(name, "AllReduce") ? PathKind::kCollective
                                : has(name, "emcpy") || has(name, "emset")  ? PathKind::kCopy
                                                                            : PathKind::kKernel;
          add_work(s, launch->second, t, kind);
        }
      }
    }
    by_end_.resize(device_.size());
    for (uint32_t w = 0; w < by_end_.size(); ++w) by_end_[w] = w;
    std::sort(by_end_.begin(), by_end_.end(), [&](uint32_t a, uint32_t b) {
      return device_[a].end != device_[b].end ? device_[a].end < device_[b].end : a < b;
    });
    std::vector<uint32_t> order = by_end_;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return device_[a].begin < device_[b].begin; });
    boost::unordered_flat_map<TrackId, uint32_t> last;
    for (const uint32_t w : order) {
      const auto [found, is_new] = last.emplace(device_[w].track, w);
      if (!is_new) device_[w].before = std::exchange(found->second, w);
    }
  }

  std::vector<Moment> moments_of(const trace::Track& track) const {
    std::vector<Moment> out;
    struct Open {
      SliceId slice;
      int64_t end;
    };
    std::vector<Open> open;
    int64_t at = 0;
    const auto until = [&](int64_t time) {  // the innermost owns what passes
      if (!open.empty() && time > at) out.push_back({at, time, open.back().slice});
      at = std::max(at, time);
    };
    const auto close = [&](int64_t time) {
      while (!open.empty() && open.back().end <= time) {
        until(open.back().end);
        open.pop_back();
      }
    };
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const int64_t begin = begin_of(s), end = end_of(s);
      if (end <= begin || kind_of(s).is_extent) continue;
      if (out.empty() && open.empty()) at = begin;
      close(begin);
      if (open.empty()) {
        at = std::max(at, begin);
      } else {
        until(begin);
      }
      open.push_back({s, end});
    }
    close(INT64_MAX);
    return out;
  }

  const Trace& trace_;
  int64_t offset_;
  std::vector<LabelKind> kinds_;
  std::vector<bool> is_device_;
  std::vector<Thread> threads_;
  std::vector<DeviceWork> device_;
  std::vector<uint32_t> by_end_;
  boost::unordered_flat_map<SliceId, uint32_t> work_of_;
};

// Walks back in time. Each turn takes off some time or changes the thread, and changes are bounded.
class Walk {
 public:
  Walk(const std::vector<Lane>& lanes, const std::vector<pytorch::Meeting>& meetings,
       CriticalPath& path)
      : lanes_(lanes), path_(path), meetings_(lanes.size()) {
    for (const pytorch::Meeting& meeting : meetings) {
      for (size_t rank = 0; rank < meeting.size(); ++rank) {
        for (const SliceId s : meeting[rank]->slices) meetings_[rank].emplace(s, &meeting);
      }
    }
  }

  void run() {
    at_ = path_.end;
    start();
    size_t most = 1000;
    for (const Lane& lane : lanes_) most += 8 * size_t{lane.trace().slice_count()};
    for (size_t turn = 0; at_ > path_.begin; ++turn) {
      if (turn > most) {
        path_.is_cut = true;
        break;
      }
      if (work_ != kNone) {
        on_device();
      } else {
        on_thread();
      }
    }
    std::reverse(path_.parts.begin(), path_.parts.end());
  }

 private:
  const Lane& lane() const { return lanes_[host_]; }

  void add(PathKind kind, SliceId slice, TrackId track, int64_t from) {
    from = std::clamp(from, path_.begin, at_);
    if (from == at_) return;
    if (!path_.parts.empty()) {
      PathPart& last = path_.parts.back();
      if (last.kind == kind && last.slice == slice && last.host == host_ && last.track == track) {
        last.begin = at_ = from;
        return;
      }
    }
    path_.parts.push_back({kind, host_, slice, track, from, at_});
    at_ = from;
  }

  // What ended last: device work that reaches the end, or a thread.
  void start() {
    const uint32_t work = lane().ended_in(path_.begin, at_);
    const Lane::Thread* thread = busiest();
    if (work != kNone) {
      const Moment* moment = thread ? lane().before(*thread, at_) : nullptr;
      if (!moment || moment->end < lane().device()[work].end) {
        work_ = work;
        return;
      }
    }
    thread_ = thread;
  }
  // The thread that does something at the time, or did last; work before frames, many slices first.
  const Lane::Thread* busiest(const Lane::Thread* but = nullptr) const {
    return busiest(but, INT64_MIN, false);
  }
  // Of those that did work of their own until a time after `since`.
  const Lane::Thread* working(int64_t since) const { return busiest(thread_, since, true); }
  const Lane::Thread* busiest(const Lane::Thread* but, int64_t since, bool wants_work) const {
    const Lane::Thread* best = nullptr;
    int64_t latest = INT64_MIN;
    size_t moments = 0;
    for (const Lane::Thread& thread : lane().threads()) {
      if (&thread == but) continue;
      const Moment* moment = lane().before(thread, at_);
      if (!moment) continue;
      if (wants_work && (moment->end <= since || lane().kind_of(moment->slice).is_frame)) continue;
      const int64_t end = std::min(moment->end, at_);
      if (end > latest || (end == latest && thread.moments.size() > moments)) {
        best = &thread;
        latest = end;
        moments = thread.moments.size();
      }
    }
    return best;
  }

  void on_device() {
    const DeviceWork work = lane().device()[work_];
    if (at_ > work.end) add(PathKind::kWait, kNone, work.track, work.end);
    if (work.kind == PathKind::kCollective && follow_last_rank(work.slice)) return;
    add(work.kind, work.slice, work.track, work.begin);
    const uint32_t before = work.before;
    const int64_t free_at = before == kNone ? INT64_MIN : lane().device()[before].end;
    const int64_t asked_at = work.launch == kNone ? INT64_MIN : lane().end_of(work.launch);
    if (before != kNone && free_at >= asked_at) {
      // It was asked for in time and the stream was free later: what ended just before it began,
      // on this stream or another, let it begin.
      constexpr int64_t kNear = 2'000'000;  // 2 us
      uint32_t next = before;
      if (work.begin - free_at > kNear) {
        const uint32_t other = lane().ended_in(std::max(free_at, work.begin - kNear), work.begin);
        if (other != kNone && other != work_) next = other;
      }
      work_ = next;
      if (lane().device()[work_].end < at_)
        add(PathKind::kWait, kNone, work.track, lane().device()[work_].end);
      return;
    }
    work_ = kNone;
    if (work.launch == kNone) {
      thread_ = busiest();
      if (!thread_) add(PathKind::kWait, kNone, work.track, path_.begin);
      return;
    }
    add(PathKind::kLaunch, work.launch, lane().trace().track_of(work.launch),
        lane().begin_of(work.launch));
    thread_ = lane().thread_of(work.launch);
    if (!thread_) thread_ = busiest();
    if (!thread_) add(PathKind::kWait, kNone, work.track, path_.begin);
  }

  void on_thread() {
    const Moment* moment = thread_ ? lane().before(*thread_, at_) : nullptr;
    if (!moment) {
      // Nothing earlier on this thread: another one goes on.
      const Lane::Thread* other = busiest(thread_);
      if (!other || ++changes_ > kMostChanges) {
        add(PathKind::kWait, kNone, thread_ ? thread_->track : kNone, path_.begin);
      } else {
        thread_ = other;
      }
      return;
    }
    if (moment->end < at_) {
      const Lane::Thread* other = working(at_ - 1);
      if (!other) {
        // Nobody works: a frame that stands at the time says more than nothing.
        other = busiest(thread_);
        if (other && lane().before(*other, at_)->end < at_) other = nullptr;
      }
      if (other && ++changes_ <= kMostChanges) {
        thread_ = other;
        return;
      }
      add(PathKind::kWait, kNone, thread_->track, moment->end);
      return;
    }
    const LabelKind& kind = lane().kind_of(moment->slice);
    if (kind.waits_for_device) {
      const uint32_t work = lane().ended_in(moment->begin, at_);
      if (work != kNone) {
        add(PathKind::kHost, moment->slice, thread_->track, lane().device()[work].end);
        work_ = work;
        return;
      }
    }
    if (kind.is_collective && follow_last_rank(moment->slice)) return;
    if (kind.is_frame && last_change_ != at_) {
      // A frame that calls nothing recorded may stand and wait for a thread that works; what hands
      // a collective over waits for the end of it.
      last_change_ = at_;
      const Lane::Thread* other = working(kind.is_handover ? moment->begin : at_ - 1);
      if (other && ++changes_ <= kMostChanges) {
        add(PathKind::kHost, moment->slice, thread_->track, lane().before(*other, at_)->end);
        thread_ = other;
        last_change_ = at_;
        return;
      }
    }
    add(kind.is_collective ? PathKind::kCollective
        : kind.is_launch   ? PathKind::kLaunch
                           : PathKind::kHost,
        moment->slice, thread_->track, moment->begin);
  }

  // In a collective that waits the path goes on with the rank that came last.
  bool follow_last_rank(SliceId slice) {
    const auto found = meetings_[host_].find(slice);
    if (found == meetings_[host_].end()) return false;
    const pytorch::Meeting& meeting = *found->second;
    uint32_t last = host_;
    int64_t came = INT64_MIN;
    for (uint32_t rank = 0; rank < meeting.size(); ++rank) {
      const int64_t begin = lanes_[rank].begin_of(meeting[rank]->slices.back());
      if (begin > came) came = begin, last = rank;
    }
    if (last == host_ || came >= at_ || came <= lane().begin_of(slice)) return false;
    const SliceId theirs = meeting[last]->slices.back();
    add(PathKind::kCollective, slice, lane().trace().track_of(slice), came);
    host_ = last;
    work_ = lane().work_of(theirs);
    if (work_ != kNone) {
      // Its kernel begins there: what let it begin comes next.
      const DeviceWork& work = lane().device()[work_];
      thread_ = work.launch == kNone ? nullptr : lane().thread_of(work.launch);
    } else {
      thread_ = lane().thread_of(theirs);
    }
    work_ = work_ != kNone ? lane().device()[work_].before : kNone;
    if (work_ != kNone && lane().device()[work_].end > at_) work_ = kNone;
    if (work_ == kNone && !thread_) thread_ = busiest();
    return true;
  }

  static constexpr size_t kMostChanges = 1'000'000;
  const std::vector<Lane>& lanes_;
  CriticalPath& path_;
  std::vector<boost::unordered_flat_map<SliceId, const pytorch::Meeting*>> meetings_;  // by rank
  uint32_t host_ = 0, work_ = kNone;
  const Lane::Thread* thread_ = nullptr;
  int64_t at_ = 0, last_change_ = INT64_MIN;
  size_t changes_ = 0;
};

}  // namespace

std::string_view name_of(PathKind kind) {
  switch (kind) {
    case PathKind::kHost:
      return "Host";
    case PathKind::kLaunch:
      return "Launch";
    case PathKind::kKernel:
      return "Kernel";
    case PathKind::kCopy:
      return "Copy";
    case PathKind::kCollective:
      return "Collective";
    case PathKind::kWait:
      break;
  }
  return "Nothing recorded";
}

CriticalPath critical_path(const std::vector<const HostAnalysis*>& hosts) {
  CriticalPath path;
  if (hosts.empty()) return path;
  path.clock = pytorch::common_clock(hosts);
  std::vector<Lane> lanes;
  lanes.reserve(hosts.size());
  for (size_t i = 0; i < hosts.size(); ++i) lanes.emplace_back(*hosts[i], path.clock.offset_ps[i]);
  std::vector<std::vector<pytorch::Collective>> calls;
  std::vector<pytorch::Meeting> meetings;
  if (hosts.size() > 1 && path.clock.collectives > 0) {
    for (const HostAnalysis* host : hosts) {
      calls.push_back(pytorch::collectives_of(host->pytorch()));
      // The host's own thread only hands the collective over and goes on.
      std::erase_if(calls.back(), [](const auto& call) { return call.name.starts_with("c10d::"); });
    }
    meetings = pytorch::meetings_of(calls);
  }
  const trace::Trace& first = hosts[0]->trace();
  path.begin = first.first_begin().value;
  path.end = first.last_end().value;
  if (hosts[0]->is_pytorch()) {
    const auto& steps = hosts[0]->pytorch().steps;
    if (!steps.empty() && hosts[0]->pytorch().steps_marked) {
      path.begin = steps.front().extent.begin;
      path.end = path.begin;
      for (const pytorch::CaptureStep& step : steps) path.end = std::max(path.end, step.extent.end);
    }
  } else if (const loop::Loop& loop = hosts[0]->loop(); !loop.periods.empty()) {
    path.begin = loop.periods.front().begin;
    path.end = loop.periods.back().marked_end;
  }
  Walk(lanes, meetings, path).run();
  return path;
}

}  // namespace sonde::capture
