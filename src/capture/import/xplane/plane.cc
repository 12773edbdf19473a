#include "capture/import/xplane/plane.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "codec/fields/map_entry.h"
#include "codec/fields/xplane.h"
#include "codec/wire.h"

namespace sonde::imports::xplane {
namespace {

using trace::Arg;
using trace::ArgType;
using trace::ArgValue;
using trace::kNone;
using trace::packed_key;

// Types that exist only between fill() and intern_local_text().
constexpr auto kLocalText = static_cast<ArgType>(6);
constexpr auto kLocalBytes = static_cast<ArgType>(7);

struct Stat {
  int64_t metadata_id = 0;
  enum class Kind : uint8_t { kNone, kDouble, kUint, kInt, kText, kBytes, kRef } kind = Kind::kNone;
  uint64_t bits = 0;
  Bytes bytes;
};

bool read_stat(Bytes message, Stat& stat) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case fields::XStat::kMetadataId:
        stat.metadata_id = f.as_int();
        break;
      case fields::XStat::kDouble:
        stat.kind = Stat::Kind::kDouble;
        stat.bits = f.bits;
        break;
      case fields::XStat::kUint64:
        stat.kind = Stat::Kind::kUint;
        stat.bits = f.bits;
        break;
      case fields::XStat::kInt64:
        stat.kind = Stat::Kind::kInt;
        stat.bits = f.bits;
        break;
      case fields::XStat::kText:
        stat.kind = Stat::Kind::kText;
        stat.bytes = f.bytes;
        break;
      case fields::XStat::kBytes:
        stat.kind = Stat::Kind::kBytes;
        stat.bytes = f.bytes;
        break;
      case fields::XStat::kReference:
        stat.kind = Stat::Kind::kRef;
        stat.bits = f.bits;
        break;
      default:
        break;
    }
  }
  return cursor.ok();
}

// Numbers and references, which need no table of their own.
ArgValue plain_value(const Stat& stat, const Plane& plane) {
  switch (stat.kind) {
    case Stat::Kind::kDouble:
      return {ArgType::kDouble, stat.bits};
    case Stat::Kind::kUint:
      return {ArgType::kUint, stat.bits};
    case Stat::Kind::kRef: {
      const uint32_t text = plane.stat_text.get(static_cast<int64_t>(stat.bits));
      return {ArgType::kText, text == kNone ? 0 : text};
    }
    default:
      return {ArgType::kInt, stat.bits};
  }
}

struct MapEntry {
  int64_t key = 0;
  Bytes value;
};

MapEntry read_entry(Bytes message) {
  MapEntry entry;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == fields::MapEntry::kKey && !f.is_bytes()) entry.key = f.as_int();
    if (f.number == fields::MapEntry::kValue && f.is_bytes()) entry.value = f.bytes;
  }
  return entry;
}

trace::StringId text_id(std::string_view text, trace::Builder& builder) {
  return is_utf8(text) ? builder.string(text) : builder.string(to_utf8(text));
}

}  // namespace

void read_stat_metadata(std::span<const Bytes> entries, Plane& plane, trace::Builder& builder) {
  for (const Bytes bytes : entries) {
    const MapEntry entry = read_entry(bytes);
    std::string_view name;
    wire::Cursor cursor(entry.value);
    for (wire::Field f; cursor.next(f);) {
      if (f.number == fields::XStatMetadata::kName && f.is_bytes()) name = f.text();
    }
    plane.stat_text.set(entry.key, text_id(name, builder));
  }
}

std::vector<Arg> read_args(std::span<const Bytes> stats, const Plane& plane,
                           trace::Builder& builder) {
  std::vector<Arg> args;
  for (const Bytes bytes : stats) {
    Stat stat;
    if (!read_stat(bytes, stat)) continue;
    const uint32_t key = plane.stat_text.get(stat.metadata_id);
    Arg arg{key == kNone ? 0 : key, {}};
    if (stat.kind == Stat::Kind::kText) {
      arg.value = {ArgType::kText, text_id(as_text(stat.bytes), builder)};
    } else if (stat.kind == Stat::Kind::kBytes) {
      arg.value = {ArgType::kBytes, builder.blob(std::string(as_text(stat.bytes)))};
    } else {
      arg.value = plain_value(stat, plane);
    }
    args.push_back(arg);
  }
  return args;
}

void read_event_metadata(std::span<const Bytes> entries, Plane& plane, trace::Builder& builder) {
  std::vector<Bytes> stats;
  const trace::KeyId metadata_id = builder.key("xplane.metadata_id");
  for (const Bytes bytes : entries) {
    const MapEntry entry = read_entry(bytes);
    std::string_view name, display_name;
    stats.clear();
    wire::Cursor cursor(entry.value);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes()) continue;
      if (f.number == fields::XEventMetadata::kName) name = f.text();
      if (f.number == fields::XEventMetadata::kDisplayName) display_name = f.text();
      if (f.number == fields::XEventMetadata::kStats) stats.push_back(f.bytes);
    }
    std::vector<Arg> args = read_args(stats, plane, builder);
    // Modules of old files are identified by nothing but this number.
    if (plane.name == "/host:metadata")
      args.push_back({metadata_id, {ArgType::kInt, static_cast<uint64_t>(entry.key)}});
    const trace::ArgRange range = args.empty() ? trace::ArgRange{} : builder.add_args(args);
    const trace::StringId display = display_name.empty() ? kNone : text_id(display_name, builder);
    plane.event_label.set(entry.key, builder.own_label(text_id(name, builder), display, range));
  }
  plane.unnamed = builder.label("");
}

int64_t line_base_ps(int64_t timestamp_ns, int64_t subtract_ns) {
  constexpr int64_t kLimit = trace::kTimeLimit / 1000;
  int64_t ns;
  if (__builtin_sub_overflow(timestamp_ns, subtract_ns, &ns)) ns = kLimit;
  return std::clamp(ns, -kLimit, kLimit) * 1000;
}

namespace {

// Reads the fields this file knows, whose keys take one byte each, without the bookkeeping of a
// Cursor. Anything else ends it with false; the Cursor then reads the message from its start.
class Quick {
 public:
  explicit Quick(Bytes message) : p_(message.data()), end_(message.data() + message.size()) {}

  bool at_end() const { return p_ == end_; }
  uint8_t key() { return static_cast<uint8_t>(*p_++); }
  bool varint(uint64_t& value) {
    if (p_ == end_) return false;
    value = static_cast<uint64_t>(*p_);
    if (value < 0x80) {
      ++p_;
      return true;
    }
    const std::byte* next = wire::read_varint(p_, end_, value);
    if (!next) return false;
    p_ = next;
    return true;
  }
  bool signed_varint(int64_t& value) {
    uint64_t bits;
    if (!varint(bits)) return false;
    value = static_cast<int64_t>(bits);
    return true;
  }
  bool fixed64(uint64_t& value) {
    if (end_ - p_ < 8) return false;
    std::memcpy(&value, p_, 8);
    p_ += 8;
    return true;
  }
  bool bytes(Bytes& value) {
    uint64_t length;
    if (!varint(length) || length > static_cast<uint64_t>(end_ - p_)) return false;
    value = {p_, static_cast<size_t>(length)};
    p_ += length;
    return true;
  }

 private:
  const std::byte* p_;
  const std::byte* end_;
};

// Stats of one event, and whether it stands for several (num_occurrences).
void count_stats(Bytes message, uint32_t& stats, bool& aggregated) {
  Quick in(message);
  while (!in.at_end()) {
    bool good;
    uint64_t number;
    Bytes stat;
    switch (in.key()) {
      case 0x08:
      case 0x10:
      case 0x18:
        good = in.varint(number);
        break;
      case 0x22:
        good = in.bytes(stat);
        ++stats;
        break;
      case 0x28:
        good = in.varint(number);
        aggregated = true;
        break;
      default:
        good = false;
        break;
    }
    if (good) continue;
    stats = 0;
    aggregated = false;
    wire::Cursor cursor(message);
    for (wire::Field e; cursor.next(e);) {
      stats += e.number == fields::XEvent::kStats && e.is_bytes();
      aggregated |= e.number == fields::XEvent::kOccurrences;
    }
    return;
  }
}

}  // namespace

void count(Line& line, const PartRead& part_read) {
  wire::Cursor cursor(line.bytes);
  PageReleaser trail(part_read, line.bytes);
  for (wire::Field f; cursor.next(f);) {
    trail.reached(cursor.position());
    switch (f.number) {
      case fields::XLine::kId:
        line.id = f.as_int();
        break;
      case fields::XLine::kName:
        if (f.is_bytes()) line.name = f.text();
        break;
      case fields::XLine::kTimestampNs:
        line.timestamp_ns = f.as_int();
        break;
      case fields::XLine::kEvents: {
        if (!f.is_bytes()) break;
        uint32_t stats = 0;
        bool aggregated = false;
        count_stats(f.bytes, stats, aggregated);
        if (aggregated) {
          ++line.aggregated;
          line.aggregated_args += stats + 1;
        } else {
          ++line.events;
          line.args += stats;
        }
        break;
      }
      case fields::XLine::kDurationPs:
        line.duration_ps = f.as_int();
        break;
      case fields::XLine::kDisplayId:
        line.display_id = f.as_int();
        break;
      case fields::XLine::kDisplayName:
        if (f.is_bytes()) line.display_name = f.text();
        break;
      default:
        break;
    }
  }
  line.damaged += !cursor.ok();
  trail.finish(line.bytes.data() + line.bytes.size());
}

namespace {

// The fields of one event, without its stats.
struct Event {
  int64_t metadata_id = 0, offset = 0, duration = 0;
  std::optional<int64_t> occurrences;
};

bool quick_stat(Bytes message, Stat& stat) {
  Quick in(message);
  while (!in.at_end()) {
    bool good;
    switch (in.key()) {
      case 0x08:
        good = in.signed_varint(stat.metadata_id);
        break;
      case 0x11:
        stat.kind = Stat::Kind::kDouble;
        good = in.fixed64(stat.bits);
        break;
      case 0x18:
        stat.kind = Stat::Kind::kUint;
        good = in.varint(stat.bits);
        break;
      case 0x20:
        stat.kind = Stat::Kind::kInt;
        good = in.varint(stat.bits);
        break;
      case 0x2a:
        stat.kind = Stat::Kind::kText;
        good = in.bytes(stat.bytes);
        break;
      case 0x32:
        stat.kind = Stat::Kind::kBytes;
        good = in.bytes(stat.bytes);
        break;
      case 0x38:
        stat.kind = Stat::Kind::kRef;
        good = in.varint(stat.bits);
        break;
      default:
        return false;
    }
    if (!good) return false;
  }
  return true;
}

void add_stat(Bytes message, const Plane& plane, Line& line, trace::Builder::Block& block) {
  if (block.used_args >= block.arg_key.size()) return;
  Stat stat;
  if (!quick_stat(message, stat)) {
    stat = {};
    line.damaged += !read_stat(message, stat);
  }
  const uint32_t key = plane.stat_text.get(stat.metadata_id);
  ArgValue value;
  if (stat.kind == Stat::Kind::kText) {
    value = {kLocalText, line.local_text.id(as_text(stat.bytes))};
  } else if (stat.kind == Stat::Kind::kBytes) {
    line.local_blobs.emplace_back(as_text(stat.bytes));
    value = {kLocalBytes, line.local_blobs.size() - 1};
  } else {
    value = plain_value(stat, plane);
  }
  block.arg_key[block.used_args] = packed_key(key == kNone ? 0 : key, value.type);
  block.arg_bits[block.used_args++] = value.bits;
}

// An event with a place in time, read in one go with its stats. False (and no stat kept) when it
// is of another kind or has unknown fields.
bool quick_event(Bytes message, Event& event, Fill& fill) {
  const uint32_t args_before = fill.block.used_args;
  const uint64_t damaged_before = fill.line.damaged;
  Quick in(message);
  while (!in.at_end()) {
    bool good;
    Bytes stat;
    switch (in.key()) {
      case 0x08:
        good = in.signed_varint(event.metadata_id);
        break;
      case 0x10:
        good = in.signed_varint(event.offset);
        break;
      case 0x18:
        good = in.signed_varint(event.duration);
        break;
      case 0x22:
        good = in.bytes(stat);
        if (good) add_stat(stat, fill.plane, fill.line, fill.block);
        break;
      default:
        good = false;
        break;
    }
    if (!good) {
      fill.block.used_args = args_before;
      fill.line.damaged = damaged_before;
      return false;
    }
  }
  return true;
}

Event read_event(Bytes message, Line& line) {
  Event event;
  wire::Cursor cursor(message);
  for (wire::Field e; cursor.next(e);) {
    if (e.number == fields::XEvent::kMetadataId) event.metadata_id = e.as_int();
    if (e.number == fields::XEvent::kOffsetPs) event.offset = e.as_int();
    if (e.number == fields::XEvent::kDurationPs) event.duration = e.as_int();
    if (e.number == fields::XEvent::kOccurrences) event.occurrences = e.as_int();
  }
  line.damaged += !cursor.ok();
  return event;
}

}  // namespace

void fill(Fill& fill) {
  const Plane& plane = fill.plane;
  Line& line = fill.line;
  const int64_t base = line_base_ps(line.timestamp_ns, fill.subtract_ns);
  wire::Cursor cursor(line.bytes);
  PageReleaser trail(fill.part_read, line.bytes);
  for (wire::Field f; cursor.next(f);) {
    trail.reached(cursor.position());
    if (f.number != fields::XLine::kEvents || !f.is_bytes()) continue;
    Event event;
    const bool has_room = fill.block.used < fill.block.begin.size();
    const bool quick = has_room && quick_event(f.bytes, event, fill);
    if (!quick) event = read_event(f.bytes, line);
    if (event.occurrences && !fill.aggregate) continue;
    trace::Builder::Block& block = event.occurrences ? *fill.aggregate : fill.block;
    if (block.used >= block.begin.size()) continue;
    const uint32_t at = block.used++;
    uint32_t label = plane.event_label.get(event.metadata_id);
    if (label == kNone) {
      label = plane.unnamed;
      ++line.nameless;
    }
    const int64_t offset = event.occurrences ? 0 : event.offset;
    block.begin[at] = trace::clamped_begin(base + trace::clamped_begin(offset));
    block.duration[at] = trace::clamped_duration(event.duration);
    block.label[at] = label;
    if (!quick) {
      wire::Cursor again(f.bytes);
      for (wire::Field e; again.next(e);) {
        if (e.number == fields::XEvent::kStats && e.is_bytes())
          add_stat(e.bytes, plane, line, block);
      }
    }
    if (event.occurrences && block.used_args < block.arg_key.size()) {
      block.arg_key[block.used_args] = packed_key(fill.occurrences, ArgType::kInt);
      block.arg_bits[block.used_args++] = static_cast<uint64_t>(*event.occurrences);
    }
    block.arg_end[at] = block.first_arg + block.used_args;
  }
  trail.finish(line.bytes.data() + line.bytes.size());
}

void intern_local_text(Line& line, trace::Builder::Block& block, trace::Builder& builder) {
  if (line.local_text.size() == 0 && line.local_blobs.empty()) return;
  std::vector<trace::StringId> ids;
  for (uint32_t i = 0; i < line.local_text.size(); ++i)
    ids.push_back(text_id(line.local_text.text(i), builder));
  for (uint32_t a = 0; a < block.used_args; ++a) {
    const auto type = static_cast<ArgType>(block.arg_key[a] & 7);
    if (type == kLocalText) {
      block.arg_key[a] = packed_key(block.arg_key[a] >> 3, ArgType::kText);
      block.arg_bits[a] = ids[block.arg_bits[a]];
    } else if (type == kLocalBytes) {
      block.arg_key[a] = packed_key(block.arg_key[a] >> 3, ArgType::kBytes);
      block.arg_bits[a] = builder.blob(std::move(line.local_blobs[block.arg_bits[a]]));
    }
  }
}

}  // namespace sonde::imports::xplane
