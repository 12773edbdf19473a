// Perfetto protobuf traces, the part that tracing SDKs and profilers of accelerators write: track
// descriptors, track events with interned names, counters and flows. Data sources of whole systems
// (ftrace, process statistics) are counted and passed over. The packets are walked twice: tracks
// may be described after their events, and events that come in order need not be kept.
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
#include <optional>

#include "base/strings.h"
#include "capture/import/perfetto/placer.h"
#include "capture/import/perfetto/tracks.h"
#include "capture/import/registry.h"
#include "capture/import/salvage.h"

namespace sonde::imports {
namespace {

using namespace perfetto;
using trace::Arg;
using trace::ArgType;
using trace::Builder;
using trace::Diagnostic;
using trace::kNone;
using trace::LabelId;

using Texts = boost::unordered_flat_map<uint64_t, std::string>;

std::string_view found(const Texts& table, uint64_t id) {
  const auto at = table.find(id);
  return at == table.end() ? std::string_view() : std::string_view(at->second);
}

struct Sequence {
  Texts names, categories, keys, texts;
  // Of interned names with interned categories: most events have one of few.
  boost::unordered_flat_map<std::pair<uint64_t, uint64_t>, LabelId> labels;
  uint64_t default_track = 0;
};

struct Packet {
  uint64_t sequence = 0, flags = 0;
  std::optional<int64_t> time;
  Bytes interned, event, defaults, descriptor, clocks;
  bool has_foreign_clock = false;
  uint32_t of_system = 0;
};

Packet packet_in(Bytes bytes, bool& cut) {
  Packet packet;
  walk_fields(bytes, cut, [&](const wire::Field& f) {
    if (!f.is_bytes()) {
      if (f.number == 8) packet.time = f.as_int();
      if (f.number == 10) packet.sequence = f.bits;
      if (f.number == 13) packet.flags = f.bits;
      if (f.number == 58) packet.has_foreign_clock |= f.bits >= 64;
      return;
    }
    if (f.number == 6) packet.clocks = f.bytes;
    if (f.number == 11) packet.event = f.bytes;
    if (f.number == 12) packet.interned = f.bytes;
    if (f.number == 59) packet.defaults = f.bytes;
    if (f.number == 60) packet.descriptor = f.bytes;
    if (f.number == 1 || f.number == 2 || f.number == 9) ++packet.of_system;
  });
  return packet;
}

Type type_of(uint64_t bits) { return bits >= 1 && bits <= 4 ? static_cast<Type>(bits) : kInstant; }

class Reader {
 public:
  Reader(const Input& input, Builder& builder)
      : input_(input), builder_(builder), tracks_(builder), placer_(builder, tracks_) {}

  void run() {
    for_each_packet([&](const Packet& packet) { survey(packet); });
    tracks_.make_all();
    placer_.surveyed();
    sequences_ = {};
    for_each_packet([&](const Packet& packet) { take(packet); });
    placer_.finish();
    set_times();
    report();
  }

 private:
  template <class Fn>
  void for_each_packet(const Fn& fn) {
    PageReleaser trail(input_.part_read, input_.bytes);
    walk_fields(input_.bytes, cut_, [&](const wire::Field& f) {
      if (f.number != 1 || !f.is_bytes()) return;
      trail.reached(f.bytes.data());
      fn(packet_in(f.bytes, cut_));
    });
  }

  Sequence& sequence_of(const Packet& packet) {
    Sequence& state = sequences_[packet.sequence];
    if (packet.flags & 1) state = {};
    if (!packet.defaults.empty()) read_defaults(packet.defaults, state);
    return state;
  }

  // Of the events' times; nothing when it is too far from the others.
  std::optional<int64_t> relative_ps(int64_t time) const {
    const auto relative =
        static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(*first_));
    constexpr int64_t kMost = trace::kTimeLimit / 1000;
    if (relative > kMost || relative < -kMost) return std::nullopt;
    return relative * 1000;
  }

  // --- first walk: tracks and times ---

  void survey(const Packet& packet) {
    foreign_clock_ |= packet.has_foreign_clock;
    system_packets_ += packet.of_system;
    if (!packet.clocks.empty()) read_clocks(packet.clocks);
    const Sequence& state = sequence_of(packet);
    if (!packet.descriptor.empty()) tracks_.describe(packet.descriptor, cut_);
    if (packet.event.empty()) return;
    if (!packet.time) {
      ++timeless_;
      return;
    }
    if (!first_) first_ = packet.time;
    uint64_t track = state.default_track;
    Type type = kInstant;
    uint32_t args = 0;
    walk_fields(packet.event, cut_, [&](const wire::Field& f) {
      args += f.number == 4;
      if (f.number == 9) type = type_of(f.bits);
      if (f.number == 11 && !f.is_bytes()) track = f.bits;
    });
    if (const auto time = relative_ps(*packet.time)) {
      placer_.survey(track, *time, type, args);
    } else {
      ++far_;
    }
  }

  void read_clocks(Bytes snapshot) {
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

  // --- second walk: events ---

  void take(const Packet& packet) {
    Sequence& state = sequence_of(packet);
    if (!packet.interned.empty()) read_interned(packet.interned, state);
    if (packet.event.empty() || !packet.time) return;
    const auto time = relative_ps(*packet.time);
    if (time) read_event(packet.event, *time, state);
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
      const auto [at, added] = table->insert_or_assign(id, clean(text));
      if (!added) state.labels.clear();  // the number means something else from here on
    });
  }

  void read_event(Bytes bytes, int64_t time, Sequence& state) {
    Event event;
    event.time = time;
    event.track = state.default_track;
    std::string_view name, category;
    std::optional<uint64_t> name_id, category_id;
    args_.clear();
    flows_.clear();
    ending_.clear();
    walk_fields(bytes, cut_, [&](const wire::Field& f) {
      switch (f.number) {
        case 3:
          wire::for_each_varint(f, [&](uint64_t id) {
            if (!category.empty()) return;
            category = found(state.categories, id);
            category_id = id;
          });
          break;
        case 4:
          if (f.is_bytes()) annotate(f.bytes, "", state, 0);
          break;
        case 9:
          event.type = type_of(f.bits);
          break;
        case 10:
          if (f.is_bytes()) break;
          name = found(state.names, f.bits);
          name_id = f.bits;
          break;
        case 11:
          if (!f.is_bytes()) event.track = f.bits;
          break;
        case 22:
          if (!f.is_bytes() || !category.empty()) break;
          category = f.text();
          category_id.reset();
          break;
        case 23:
          if (!f.is_bytes()) break;
          name = f.text();
          name_id.reset();
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
          wire::for_each_fixed<uint64_t>(f, [&](uint64_t id) { ending_.push_back(id); });
          break;
        default:
          break;
      }
    });
    event.args = static_cast<uint32_t>(args_.size());
    event.flows = static_cast<uint32_t>(flows_.size());
    event.ending = static_cast<uint32_t>(ending_.size());
    flows_.insert(flows_.end(), ending_.begin(), ending_.end());
    if (event.type == kBegin || event.type == kInstant) {
      const bool is_known = name_id && category_id && !name.empty() && !category.empty();
      event.label = is_known ? label_of(*name_id, *category_id, state) : label(name, category);
    }
    placer_.take(event, args_, flows_);
  }

  LabelId label(std::string_view name, std::string_view category) {
    return builder_.label(name.empty() ? "[no name]" : clean(name), clean(category));
  }
  LabelId label_of(uint64_t name_id, uint64_t category_id, Sequence& state) {
    const auto [at, added] = state.labels.try_emplace(std::pair(name_id, category_id), kNone);
    if (added)
      at->second = label(found(state.names, name_id), found(state.categories, category_id));
    return at->second;
  }

  // A nested value becomes one argument a leaf: "shape.0", "options.batch".
  void annotate(Bytes bytes, std::string_view prefix, const Sequence& state, int depth) {
    if (depth > kMaxNesting) return;
    std::string_view name;
    std::string repaired;  // what `name` points into when the file's is no UTF-8
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
      if (f.number == 10) name = is_utf8(f.text()) ? f.text() : (repaired = to_utf8(f.text()));
      if (f.number == 6 || f.number == 9)
        set(ArgType::kText,
            builder_.string(is_utf8(f.text()) ? f.text() : std::string_view(to_utf8(f.text()))));
      if (f.number == 11) entries.push_back(f.bytes);
      if (f.number == 12) items.push_back(f.bytes);
    });
    const std::string joined =
        prefix.empty() || name.empty() ? std::string() : fmt::format("{}.{}", prefix, name);
    const std::string_view full = prefix.empty() ? name : name.empty() ? prefix : joined;
    if (has_value) args_.push_back({builder_.key(full.empty() ? "value" : full), value});
    for (const Bytes entry : entries) annotate(entry, full, state, depth + 1);
    for (size_t i = 0; i < items.size(); ++i)
      annotate(items[i], fmt::format("{}.{}", full, i), state, depth + 1);
  }

  // --- the whole ---

  void set_times() {
    if (placer_.is_empty()) return;
    builder_.set_origin({placer_.earliest()});
    const int64_t start = *first_ + placer_.earliest() / 1000;
    constexpr int64_t k2001 = 978'307'200'000'000'000, k2100 = 4'102'444'800'000'000'000;
    if (start > k2001 && start < k2100) {
      builder_.set_start_ns(start);
    } else if (wall_offset_ && start > 0 && start < k2001) {
      builder_.set_start_ns(start + *wall_offset_);
    }
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
                                    input_.bytes.size()));
    warn(timeless_, "events have no time and were skipped");
    warn(far_, "events lie more than 26 days from the others and were skipped");
    warn(placer_.stray_ends(), "ends without a beginning were skipped");
    if (foreign_clock_)
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        "some packets use a clock of their own; their times are taken as they are");
    if (placer_.unfinished() != 0)
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          fmt::format("{} slices have no end; they are shown up to the end of the trace",
                      placer_.unfinished()));
    if (system_packets_ != 0)
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          fmt::format(
              "{} packets about the whole system (ftrace, process statistics) are not shown",
              system_packets_));
  }

  const Input& input_;
  Builder& builder_;
  Tracks tracks_;
  Placer placer_;
  bool cut_ = false, foreign_clock_ = false;
  std::optional<int64_t> first_;  // time of the first event in the file, ns
  std::optional<int64_t> wall_offset_;
  boost::unordered_flat_map<uint64_t, Sequence> sequences_;
  std::vector<Arg> args_;  // of the event at hand
  std::vector<uint64_t> flows_, ending_;
  uint64_t timeless_ = 0, far_ = 0, system_packets_ = 0;
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
  Reader(input, builder).run();
  return {};
}

}  // namespace

extern const Importer kPerfetto;
const Importer kPerfetto{"perfetto", "Perfetto protobuf trace", sniff, read};

}  // namespace sonde::imports
