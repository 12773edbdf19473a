#include "import/xplane/plane.h"

#include <algorithm>

#include "base/strings.h"
#include "base/wire.h"

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
      case 1:
        stat.metadata_id = f.as_int();
        break;
      case 2:
        stat.kind = Stat::Kind::kDouble;
        stat.bits = f.bits;
        break;
      case 3:
        stat.kind = Stat::Kind::kUint;
        stat.bits = f.bits;
        break;
      case 4:
        stat.kind = Stat::Kind::kInt;
        stat.bits = f.bits;
        break;
      case 5:
        stat.kind = Stat::Kind::kText;
        stat.bytes = f.bytes;
        break;
      case 6:
        stat.kind = Stat::Kind::kBytes;
        stat.bytes = f.bytes;
        break;
      case 7:
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
    if (f.number == 1 && !f.is_bytes()) entry.key = f.as_int();
    if (f.number == 2 && f.is_bytes()) entry.value = f.bytes;
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
      if (f.number == 2 && f.is_bytes()) name = f.text();
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
      if (f.number == 2) name = f.text();
      if (f.number == 4) display_name = f.text();
      if (f.number == 5) stats.push_back(f.bytes);
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

void count(Line& line) {
  wire::Cursor cursor(line.bytes);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        line.id = f.as_int();
        break;
      case 2:
        if (f.is_bytes()) line.name = f.text();
        break;
      case 3:
        line.timestamp_ns = f.as_int();
        break;
      case 4: {
        if (!f.is_bytes()) break;
        uint32_t stats = 0;
        bool aggregated = false;
        wire::Cursor event(f.bytes);
        for (wire::Field e; event.next(e);) {
          stats += e.number == 4 && e.is_bytes();
          aggregated |= e.number == 5;
        }
        if (aggregated) {
          ++line.aggregated;
          line.aggregated_args += stats + 1;
        } else {
          ++line.events;
          line.args += stats;
        }
        break;
      }
      case 9:
        line.duration_ps = f.as_int();
        break;
      case 10:
        line.display_id = f.as_int();
        break;
      case 11:
        if (f.is_bytes()) line.display_name = f.text();
        break;
      default:
        break;
    }
  }
  line.damaged += !cursor.ok();
}

void fill(Fill& fill) {
  const Plane& plane = fill.plane;
  Line& line = fill.line;
  const int64_t base = line_base_ps(line.timestamp_ns, fill.subtract_ns);
  wire::Cursor cursor(line.bytes);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 4 || !f.is_bytes()) continue;
    int64_t metadata_id = 0, offset = 0, duration = 0;
    std::optional<int64_t> occurrences;
    Bytes first_stats = f.bytes;
    // Two passes over a short message: which block it belongs to is only known at its end.
    wire::Cursor event(f.bytes);
    bool has_stats = false;
    for (wire::Field e; event.next(e);) {
      if (e.number == 1) metadata_id = e.as_int();
      if (e.number == 2) offset = e.as_int();
      if (e.number == 3) duration = e.as_int();
      if (e.number == 5) occurrences = e.as_int();
      has_stats |= e.number == 4;
    }
    line.damaged += !event.ok();
    if (occurrences && !fill.aggregate) continue;
    trace::Builder::Block& block = occurrences ? *fill.aggregate : fill.block;
    if (block.used >= block.begin.size()) continue;
    const uint32_t at = block.used++;
    uint32_t label = plane.event_label.get(metadata_id);
    if (label == kNone) {
      label = plane.unnamed;
      ++line.nameless;
    }
    block.begin[at] = trace::clamped_begin(base + trace::clamped_begin(occurrences ? 0 : offset));
    block.duration[at] = trace::clamped_duration(duration);
    block.label[at] = label;
    if (has_stats) {
      wire::Cursor again(first_stats);
      for (wire::Field e; again.next(e);) {
        if (e.number != 4 || !e.is_bytes() || block.used_args >= block.arg_key.size()) continue;
        Stat stat;
        line.damaged += !read_stat(e.bytes, stat);
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
    }
    if (occurrences && block.used_args < block.arg_key.size()) {
      block.arg_key[block.used_args] = packed_key(fill.occurrences, ArgType::kInt);
      block.arg_bits[block.used_args++] = static_cast<uint64_t>(*occurrences);
    }
    block.arg_end[at] = block.first_arg + block.used_args;
  }
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
