// Perfetto protobuf traces, the part that tracing SDKs and profilers of accelerators write: track
// descriptors, track events with interned names, counters and flows. Data sources of whole systems
// (ftrace, process statistics) are counted and passed over.
//
//   Trace            1 packet
//   TracePacket      6 clock_snapshot, 8 timestamp (ns), 10 sequence, 11 track_event, 12 interned,
//                    13 flags (1 = state cleared), 59 defaults, 60 track_descriptor
//   TrackDescriptor  1 uuid, 2 name, 3 process, 4 thread, 5 parent, 8 counter, 10 static_name
//   TrackEvent       3 category ids, 4 annotations, 9 type, 10 name id, 11 track, 22 categories,
//                    23 name, 30 counter, 44 counter as double, 47 flows, 48 ending flows
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/strings.h"
#include "import/registry.h"
#include "import/salvage.h"

namespace sonde::imports {
namespace {

using trace::Arg;
using trace::ArgType;
using trace::Builder;
using trace::Diagnostic;
using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

constexpr int kMaxNesting = 8;  // of annotations and of tracks in tracks
enum Type : uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

struct Described {
  std::string name, process_name, thread_name;
  uint64_t parent = 0;
  int64_t process = -1, thread = -1, order = 0;
  bool is_counter = false, is_incremental = false, was_described = false;
  int64_t multiplier = 1;
  TrackId track = kNone;
};

struct Sequence {
  boost::unordered_flat_map<uint64_t, std::string> names, categories, keys, texts;
  uint64_t default_track = 0;
};

struct Event {
  int64_t time;
  uint64_t track;
  uint32_t first_arg = 0, args = 0, first_flow = 0, flows = 0, ending = 0;
  LabelId label = kNone;
  Type type = kInstant;
  double value = 0;
};

class Reader {
 public:
  Reader(Bytes bytes, Builder& builder) : bytes_(bytes), builder_(builder) {}

  void run() {
    walk_fields(bytes_, cut_, [&](const wire::Field& f) {
      if (f.number == 1 && f.is_bytes()) packet(f.bytes);
    });
    if (events_.empty()) first_ = 0;
    for (auto& [uuid, described] : tracks_) order_.push_back(uuid);
    std::sort(order_.begin(), order_.end());
    for (const uint64_t uuid : order_) track_of(uuid, 0);
    place();
    report();
  }

 private:
  // --- packets in the order of the file ---

  void packet(Bytes bytes) {
    uint64_t sequence = 0, flags = 0;
    bool has_time = false;
    int64_t time = 0;
    Bytes interned, event, defaults, descriptor;
    walk_fields(bytes, cut_, [&](const wire::Field& f) {
      if (!f.is_bytes()) {
        if (f.number == 8) time = f.as_int(), has_time = true;
        if (f.number == 10) sequence = f.bits;
        if (f.number == 13) flags = f.bits;
        if (f.number == 58) foreign_clock_ |= f.bits >= 64;
        return;
      }
      if (f.number == 6) clocks(f.bytes);
      if (f.number == 11) event = f.bytes;
      if (f.number == 12) interned = f.bytes;
      if (f.number == 59) defaults = f.bytes;
      if (f.number == 60) descriptor = f.bytes;
      if (f.number == 1 || f.number == 2 || f.number == 9) ++system_packets_;
    });
    Sequence& state = sequences_[sequence];
    if (flags & 1) state = {};
    if (!defaults.empty()) read_defaults(defaults, state);
    if (!interned.empty()) read_interned(interned, state);
    if (!descriptor.empty()) describe(descriptor);
    if (event.empty()) return;
    if (!has_time) {
      ++timeless_;
      return;
    }
    read_event(event, time, state);
  }

  void clocks(Bytes snapshot) {
    int64_t real = 0, boot = 0;
    walk_fields(snapshot, cut_, [&](const wire::Field& f) {
      if (f.number != 1 || !f.is_bytes()) return;
      uint64_t id = 0;
      int64_t time = 0;
      walk_fields(f.bytes, cut_, [&](const wire::Field& c) {
        if (c.number == 1 && !c.is_bytes()) id = c.bits;
        if (c.number == 2 && !c.is_bytes()) time = c.as_int();
      });
      if (id == 1) real = time;
      if (id == 6) boot = time;
    });
    constexpr int64_t kMost = INT64_MAX / 4;
    if (real > 0 && boot > 0 && real < kMost && boot < kMost && !wall_offset_)
      wall_offset_ = real - boot;
  }

  void read_defaults(Bytes defaults, Sequence& state) {
    walk_fields(defaults, cut_, [&](const wire::Field& f) {
      if (f.number != 11 || !f.is_bytes()) return;
      walk_fields(f.bytes, cut_, [&](const wire::Field& d) {
        if (d.number == 11 && !d.is_bytes()) state.default_track = d.bits;
      });
    });
  }

  void read_interned(Bytes interned, Sequence& state) {
    walk_fields(interned, cut_, [&](const wire::Field& f) {
      auto* table = f.number == 1    ? &state.categories
                    : f.number == 2  ? &state.names
                    : f.number == 3  ? &state.keys
                    : f.number == 29 ? &state.texts
                                     : nullptr;
      if (!table || !f.is_bytes()) return;
      uint64_t id = 0;
      std::string_view text;
      walk_fields(f.bytes, cut_, [&](const wire::Field& e) {
        if (e.number == 1 && !e.is_bytes()) id = e.bits;
        if (e.number == 2 && e.is_bytes()) text = e.text();
      });
      table->insert_or_assign(id, clean(text));
    });
  }

  static std::string clean(std::string_view text) {
    return is_utf8(text) ? std::string(text) : to_utf8(text);
  }
  static std::string_view found(const boost::unordered_flat_map<uint64_t, std::string>& table,
                                uint64_t id) {
    const auto at = table.find(id);
    return at == table.end() ? std::string_view() : std::string_view(at->second);
  }

  void describe(Bytes bytes) {
    uint64_t uuid = 0;
    Described d;
    d.was_described = true;
    walk_fields(bytes, cut_, [&](const wire::Field& f) {
      if (!f.is_bytes()) {
        if (f.number == 1) uuid = f.bits;
        if (f.number == 5) d.parent = f.bits;
        if (f.number == 12) d.order = f.as_int();
        return;
      }
      if (f.number == 2 || f.number == 10) d.name = clean(f.text());
      if (f.number == 3 || f.number == 4) {
        walk_fields(f.bytes, cut_, [&](const wire::Field& p) {
          if (p.number == 1 && !p.is_bytes()) d.process = p.as_int();
          if (f.number == 3 && p.number == 6 && p.is_bytes()) d.process_name = clean(p.text());
          if (f.number == 4 && p.number == 2 && !p.is_bytes()) d.thread = p.as_int();
          if (f.number == 4 && p.number == 5 && p.is_bytes()) d.thread_name = clean(p.text());
        });
        if (f.number == 4 && d.thread < 0) d.thread = 0;
        if (f.number == 3 && d.process < 0) d.process = 0;
      }
      if (f.number == 8) {
        d.is_counter = true;
        walk_fields(f.bytes, cut_, [&](const wire::Field& c) {
          if (c.number == 4 && !c.is_bytes()) d.multiplier = c.as_int();
          if (c.number == 5 && !c.is_bytes()) d.is_incremental = c.as_bool();
        });
      }
    });
    tracks_.insert_or_assign(uuid, std::move(d));
  }

  void read_event(Bytes bytes, int64_t time, const Sequence& state) {
    Event event;
    event.track = state.default_track;
    std::string_view name, category;
    event.first_arg = static_cast<uint32_t>(args_.size());
    event.first_flow = static_cast<uint32_t>(flows_.size());
    std::vector<uint64_t> ending;
    walk_fields(bytes, cut_, [&](const wire::Field& f) {
      switch (f.number) {
        case 3:
          wire::for_each_varint(f, [&](uint64_t id) {
            if (category.empty()) category = found(state.categories, id);
          });
          break;
        case 4:
          if (f.is_bytes()) annotate(f.bytes, "", state, 0);
          break;
        case 9:
          event.type = f.bits >= 1 && f.bits <= 4 ? static_cast<Type>(f.bits) : kInstant;
          break;
        case 10:
          if (!f.is_bytes()) name = found(state.names, f.bits);
          break;
        case 11:
          if (!f.is_bytes()) event.track = f.bits;
          break;
        case 22:
          if (f.is_bytes() && category.empty()) category = f.text();
          break;
        case 23:
          if (f.is_bytes()) name = f.text();
          break;
        case 30:
          if (!f.is_bytes()) event.value = static_cast<double>(f.as_int());
          break;
        case 44:
          if (f.type == wire::Type::kFixed64) event.value = f.as_double();
          break;
        case 47:
          wire::for_each_fixed<uint64_t>(f, [&](uint64_t id) { flows_.push_back(id); });
          break;
        case 48:
          wire::for_each_fixed<uint64_t>(f, [&](uint64_t id) { ending.push_back(id); });
          break;
        default:
          break;
      }
    });
    event.flows = static_cast<uint32_t>(flows_.size()) - event.first_flow;
    flows_.insert(flows_.end(), ending.begin(), ending.end());
    event.ending = static_cast<uint32_t>(ending.size());
    event.args = static_cast<uint32_t>(args_.size()) - event.first_arg;
    if (event.type == kBegin || event.type == kInstant)
      event.label = builder_.label(name.empty() ? "[no name]" : clean(name), clean(category));
    if (events_.empty()) first_ = time;
    const auto relative =
        static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(first_));
    if (relative > trace::kTimeLimit / 1000 || relative < -trace::kTimeLimit / 1000) {
      ++far_;
      return;
    }
    event.time = relative * 1000;
    tracks_.try_emplace(event.track);
    events_.push_back(event);
  }

  // A nested value becomes one argument a leaf: "shape.0", "options.batch".
  void annotate(Bytes bytes, const std::string& prefix, const Sequence& state, int depth) {
    if (depth > kMaxNesting) return;
    std::string name;
    std::vector<Bytes> entries, items;
    trace::ArgValue value;
    bool has_value = false;
    const auto set = [&](ArgType type, uint64_t bits) {
      value = {type, bits};
      has_value = true;
    };
    walk_fields(bytes, cut_, [&](const wire::Field& f) {
      if (!f.is_bytes()) {
        if (f.number == 1) name = found(state.keys, f.bits);
        if (f.number == 2) set(ArgType::kBool, f.bits != 0);
        if (f.number == 3) set(ArgType::kUint, f.bits);
        if (f.number == 4) set(ArgType::kInt, f.bits);
        if (f.number == 5 && f.type == wire::Type::kFixed64) set(ArgType::kDouble, f.bits);
        if (f.number == 17) set(ArgType::kText, builder_.string(found(state.texts, f.bits)));
        return;
      }
      if (f.number == 10) name = clean(f.text());
      if (f.number == 6 || f.number == 9) set(ArgType::kText, builder_.string(clean(f.text())));
      if (f.number == 11) entries.push_back(f.bytes);
      if (f.number == 12) items.push_back(f.bytes);
    });
    const std::string full = prefix.empty() ? name : name.empty() ? prefix : prefix + "." + name;
    if (has_value) args_.push_back({builder_.key(full.empty() ? "value" : full), value});
    for (const Bytes entry : entries) annotate(entry, full, state, depth + 1);
    for (size_t i = 0; i < items.size(); ++i)
      annotate(items[i], fmt::format("{}.{}", full, i), state, depth + 1);
  }

  // --- tracks ---

  TrackId process_for(int64_t process, const std::string& name) {
    const auto [at, added] = processes_.try_emplace(process, kNone);
    if (added)
      at->second = builder_.process(
          name.empty() ? (process < 0 ? std::string("trace") : fmt::format("process {}", process))
                       : name,
          process);
    return at->second;
  }

  TrackId track_of(uint64_t uuid, int depth) {
    Described& d = tracks_[uuid];
    if (d.track != kNone) return d.track;
    if (depth > kMaxNesting) return process_for(-1, "");  // tracks that contain each other
    if (d.process >= 0 && d.thread < 0 && !d.is_counter) {
      d.track = process_for(d.process, d.process_name.empty() ? d.name : d.process_name);
      builder_.edit(d.track).order = d.order;
      return d.track;
    }
    // Lanes stand directly below their process, however deep the file nests them.
    TrackId parent = kNone;
    if (d.parent != 0 && d.parent != uuid && tracks_.contains(d.parent)) {
      const TrackId above = track_of(d.parent, depth + 1);
      parent = builder_.edit(above).parent == kNone ? above : builder_.edit(above).parent;
    }
    Described& self = tracks_[uuid];
    if (self.track != kNone) return self.track;
    if (parent == kNone) parent = process_for(self.process, self.process_name);
    const std::string name = !self.thread_name.empty() ? self.thread_name
                             : !self.name.empty()      ? self.name
                             : self.thread >= 0        ? fmt::format("thread {}", self.thread)
                                                       : fmt::format("track {}", uuid);
    self.track = builder_.track(self.is_counter ? TrackKind::kCounter : TrackKind::kThread, parent,
                                name, std::max<int64_t>(0, self.thread));
    builder_.edit(self.track).order = self.order;
    return self.track;
  }

  // Slices that stand on a process itself get a lane below it.
  TrackId lane_of(uint64_t uuid) {
    const TrackId track = track_of(uuid, 0);
    if (builder_.edit(track).kind != TrackKind::kProcess) return track;
    const auto [at, added] = process_lanes_.try_emplace(track, kNone);
    if (added) at->second = builder_.track(TrackKind::kThread, track, "events", 0);
    return at->second;
  }

  // --- slices in order of time ---

  void place() {
    std::vector<uint32_t> by_time(events_.size());
    for (uint32_t i = 0; i < by_time.size(); ++i) by_time[i] = i;
    std::stable_sort(by_time.begin(), by_time.end(),
                     [&](uint32_t a, uint32_t b) { return events_[a].time < events_[b].time; });
    boost::unordered_flat_map<uint64_t, std::vector<std::pair<SliceId, int64_t>>> open;
    boost::unordered_flat_map<uint64_t, double> sums;
    boost::unordered_flat_map<uint64_t, SliceId> flow_from;
    for (const uint32_t i : by_time) {
      const Event& event = events_[i];
      if (event.type == kEnd) {
        auto& stack = open[event.track];
        if (stack.empty()) {
          ++endings_;
          continue;
        }
        builder_.set_duration(stack.back().first, {event.time - stack.back().second});
        stack.pop_back();
        continue;
      }
      if (event.type == kCounter) {
        const Described& d = tracks_[event.track];
        double value = event.value * static_cast<double>(d.multiplier);
        if (d.is_incremental) value = sums[event.track] += value;
        const TrackId track = counter_of(event.track);
        builder_.point(track, {event.time}, value);
        continue;
      }
      const SliceId slice = builder_.slice(lane_of(event.track), {event.time}, {0}, event.label);
      for (uint32_t a = 0; a < event.args; ++a)
        builder_.arg(args_[event.first_arg + a].key, args_[event.first_arg + a].value);
      if (event.type == kInstant) builder_.arg("phase", "instant");
      for (uint32_t k = 0; k < event.flows + event.ending; ++k) {
        const uint64_t id = flows_[event.first_flow + k];
        const auto [at, added] = flow_from.try_emplace(id, slice);
        if (!added) {
          builder_.flow(at->second, slice, "flow");
          at->second = slice;
        }
        if (k >= event.flows) flow_from.erase(id);
      }
      if (event.type == kBegin) open[event.track].emplace_back(slice, event.time);
    }
    const int64_t last = by_time.empty() ? 0 : events_[by_time.back()].time;
    for (const auto& [track, stack] : open) {
      for (const auto& [slice, begin] : stack) {
        builder_.set_duration(slice, {last - begin});
        ++unfinished_;
      }
    }
    if (by_time.empty()) return;
    const int64_t earliest = events_[by_time.front()].time;
    builder_.set_origin({earliest});
    const int64_t start = first_ + earliest / 1000;
    constexpr int64_t k2001 = 978'307'200'000'000'000, k2100 = 4'102'444'800'000'000'000;
    if (start > k2001 && start < k2100) {
      builder_.set_start_ns(start);
    } else if (wall_offset_ && start > 0 && start < k2001) {
      builder_.set_start_ns(start + *wall_offset_);
    }
  }

  TrackId counter_of(uint64_t uuid) {
    const TrackId track = track_of(uuid, 0);
    if (builder_.edit(track).kind == TrackKind::kCounter) return track;
    const auto [at, added] = counters_.try_emplace(uuid, kNone);
    if (added) {
      const TrackId above = builder_.edit(track).parent;
      const TrackId parent = above == kNone ? track : above;
      at->second = builder_.track(TrackKind::kCounter, parent, "counter", 0);
    }
    return at->second;
  }

  void report() {
    const auto warn = [&](uint64_t count, std::string_view what) {
      if (count != 0)
        builder_.diagnose(Diagnostic::Severity::kWarning, fmt::format("{} {}", count, what));
    };
    if (cut_)
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        fmt::format("the file of {} bytes is cut off or damaged; what could be "
                                    "read is shown",
                                    bytes_.size()));
    warn(timeless_, "events have no time and were skipped");
    warn(far_, "events lie more than 26 days from the others and were skipped");
    warn(endings_, "ends without a beginning were skipped");
    if (foreign_clock_)
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        "some packets use a clock of their own; their times are taken as they are");
    if (unfinished_ != 0)
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          fmt::format("{} slices have no end; they are shown up to the end of the trace",
                      unfinished_));
    if (system_packets_ != 0)
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          fmt::format(
              "{} packets about the whole system (ftrace, process statistics) are not shown",
              system_packets_));
  }

  Bytes bytes_;
  Builder& builder_;
  bool cut_ = false, foreign_clock_ = false;
  int64_t first_ = 0;
  std::optional<int64_t> wall_offset_;
  boost::unordered_flat_map<uint64_t, Sequence> sequences_;
  boost::unordered_flat_map<uint64_t, Described> tracks_;
  std::vector<uint64_t> order_;
  boost::unordered_flat_map<int64_t, TrackId> processes_;
  boost::unordered_flat_map<TrackId, TrackId> process_lanes_;
  boost::unordered_flat_map<uint64_t, TrackId> counters_;
  std::vector<Event> events_;
  std::vector<Arg> args_;
  std::vector<uint64_t> flows_;
  uint64_t timeless_ = 0, far_ = 0, endings_ = 0, unfinished_ = 0, system_packets_ = 0;
};

// A packet names its sequence or describes a track; no other format here begins like that.
bool sniff(std::string_view, Bytes head) {
  if (head.empty() || head[0] != std::byte{0x0a}) return false;
  bool cut = false, is_trace = false, is_other = false;
  int packets = 0;
  walk_fields(head, cut, [&](const wire::Field& f) {
    if (f.number != 1 || !f.is_bytes()) is_other = true;
    if (is_other || ++packets > 64) return;
    walk_fields(f.bytes, cut, [&](const wire::Field& p) {
      is_trace |= p.number == 10 && !p.is_bytes();
      is_trace |= (p.number == 60 || p.number == 6) && p.is_bytes() && p.bytes.size() > 2;
    });
  });
  return is_trace && !is_other;
}

Result<void> read(const Input& input, Builder& builder) {
  Reader(input.bytes, builder).run();
  return {};
}

}  // namespace

extern const Importer kPerfetto;
const Importer kPerfetto{"perfetto", "Perfetto protobuf trace", sniff, read};

}  // namespace sonde::imports
