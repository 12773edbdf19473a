// XSpace (*.xplane.pb): what TensorFlow, JAX and PyTorch/XLA write. A plane becomes a process
// track, a line a thread or stream, an event a slice, a stat an argument.
//
//   XSpace   1 planes, 2 errors, 3 warnings, 4 hostnames
//   XPlane   1 id, 2 name, 3 lines, 4 event_metadata, 5 stat_metadata, 6 stats
//   XLine    1 id, 2 name, 3 timestamp_ns, 4 events, 9 duration_ps, 10 display_id, 11 display_name
//   XEvent   1 metadata_id, 2 offset_ps | 5 num_occurrences, 3 duration_ps, 4 stats
//   XStat    1 metadata_id, 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref (into stat_metadata)
//
// Lines come before the metadata that names their events, so a plane is walked three times: its
// fields (skipping over lines), the lines' events (counting, so that every column is allocated once
// and exactly), and the events again, all lines in parallel, straight into the trace's columns.
#include "codec/fields/xplane.h"

#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "base/intern.h"
#include "base/strings.h"
#include "capture/import/registry.h"
#include "capture/import/salvage.h"
#include "capture/import/xplane/plane.h"
#include "codec/wire.h"

namespace sonde::imports {
namespace {

using trace::Arg;
using trace::ArgRange;
using trace::ArgType;
using trace::Builder;
using trace::Diagnostic;
using trace::kNone;
using trace::TrackId;
using trace::TrackKind;
using xplane::Line;
using xplane::Plane;

// Line stamps above this are nanoseconds since 1970 and not since the capture's start.
constexpr int64_t kEpochStampNs = 1'000'000'000'000'000;

struct Space {
  std::vector<Plane> planes;
  std::string hostname;
  int64_t subtract_ns = 0;  // taken off every line stamp
};

bool is_device(std::string_view plane) {
  return plane.starts_with("/device:") || plane.starts_with("#Chip");
}

Plane scan_plane(Bytes bytes, Builder& builder, bool& cut) {
  Plane plane;
  std::vector<Bytes> event_metadata, stat_metadata, stats;
  walk_fields(bytes, cut, [&](const wire::Field& f) {
    if (f.number == fields::XPlane::kId && !f.is_bytes()) plane.id = f.as_int();
    if (!f.is_bytes()) return;
    switch (f.number) {
      case fields::XPlane::kName:
        plane.name = f.text();
        break;
      case fields::XPlane::kLines:
        plane.lines.push_back({.bytes = f.bytes});
        break;
      case fields::XPlane::kEventMetadata:
        event_metadata.push_back(f.bytes);
        break;
      case fields::XPlane::kStatMetadata:
        stat_metadata.push_back(f.bytes);
        break;
      case fields::XPlane::kStats:
        stats.push_back(f.bytes);
        break;
      default:
        break;
    }
  });
  xplane::read_stat_metadata(stat_metadata, plane, builder);
  xplane::read_event_metadata(event_metadata, plane, builder);
  plane.args = xplane::read_args(stats, plane, builder);
  plane.event_metadata_count = event_metadata.size();
  plane.stat_metadata_count = stat_metadata.size();
  return plane;
}

Arg int_arg(Builder& builder, std::string_view key, int64_t value) {
  return {builder.key(key), {ArgType::kInt, static_cast<uint64_t>(value)}};
}

void make_tracks(Space& space, Builder& builder) {
  for (Plane& plane : space.planes) {
    const TrackId process = builder.process(to_utf8(plane.name), plane.id);
    std::vector<Arg> args = plane.args;
    args.push_back(int_arg(builder, "xplane.event_metadata",
                           static_cast<int64_t>(plane.event_metadata_count)));
    args.push_back(
        int_arg(builder, "xplane.stat_metadata", static_cast<int64_t>(plane.stat_metadata_count)));
    args.push_back(int_arg(builder, "xplane.stats", static_cast<int64_t>(plane.args.size())));
    builder.edit(process).args = builder.add_args(args);
    const TrackKind kind = is_device(plane.name) ? TrackKind::kStream : TrackKind::kThread;
    for (Line& line : plane.lines) {
      line.track = builder.track(kind, process, to_utf8(line.name), line.id);
      trace::Track& track = builder.edit(line.track);
      if (!line.display_name.empty())
        track.display_name = builder.string(to_utf8(line.display_name));
      track.order = line.display_id;
      const Arg line_args[] = {int_arg(builder, "xplane.timestamp_ns", line.timestamp_ns),
                               int_arg(builder, "xplane.base_ps",
                                       xplane::line_base_ps(line.timestamp_ns, space.subtract_ns)),
                               int_arg(builder, "xplane.duration_ps", line.duration_ps)};
      track.args = builder.add_args(line_args);
      if (line.aggregated != 0) {
        line.aggregate_track =
            builder.track(TrackKind::kAggregate, process, to_utf8(line.name), line.id);
      }
    }
  }
}

// Start of the capture on the wall clock, and stamps brought to it.
void find_time_base(Space& space, Builder& builder) {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  bool epoch = false;
  for (const Plane& plane : space.planes) {
    for (const Line& line : plane.lines) {
      if (line.events == 0) continue;
      smallest = std::min(smallest, line.timestamp_ns);
      epoch |= line.timestamp_ns > kEpochStampNs;
    }
    if (plane.name != "Task Environment") continue;
    for (const Arg& arg : plane.args) {
      if (arg.key == builder.key("profile_start_time") && arg.value.is_number())
        builder.set_start_ns(arg.value.as_int());
    }
  }
  if (epoch) {
    space.subtract_ns = smallest;
    builder.set_start_ns(smallest);
  }
}

void for_each_line(ThreadPool* pool, std::vector<std::pair<Plane*, Line*>>& lines,
                   const std::function<void(size_t)>& fn) {
  if (pool && lines.size() > 1) {
    pool->for_each(lines.size(), fn);
  } else {
    for (size_t i = 0; i < lines.size(); ++i) fn(i);
  }
}

Result<void> read(const Input& input, Builder& builder) {
  Space space;
  bool cut = false;
  std::vector<std::pair<std::string, Diagnostic::Severity>> messages;
  walk_fields(input.bytes, cut, [&](const wire::Field& f) {
    if (!f.is_bytes()) return;
    if (f.number == fields::XSpace::kPlanes)
      space.planes.push_back(scan_plane(f.bytes, builder, cut));
    if (f.number == fields::XSpace::kErrors)
      messages.emplace_back(f.text(), Diagnostic::Severity::kError);
    if (f.number == fields::XSpace::kWarnings)
      messages.emplace_back(f.text(), Diagnostic::Severity::kWarning);
    if (f.number == fields::XSpace::kHostnames && space.hostname.empty()) space.hostname = f.text();
  });
  if (space.planes.empty() && cut)
    return fail(Code::kCorrupt, "not an XSpace: its first field cannot be read");
  builder.set_host(to_utf8(space.hostname));

  std::vector<std::pair<Plane*, Line*>> lines;
  for (Plane& plane : space.planes) {
    for (Line& line : plane.lines) lines.emplace_back(&plane, &line);
  }
  // Large lines first: the last one to finish decides.
  std::vector<std::pair<Plane*, Line*>> by_size = lines;
  std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
    return a.second->bytes.size() > b.second->bytes.size();
  });
  for_each_line(input.pool, by_size,
                [&](size_t i) { xplane::count(*by_size[i].second, input.part_read); });
  find_time_base(space, builder);
  make_tracks(space, builder);

  std::vector<Builder::BlockSize> sizes;
  for (auto& [plane, line] : lines) {
    line->block = sizes.size();
    sizes.push_back({line->track, line->events, line->args});
    if (line->aggregated != 0)
      sizes.push_back({line->aggregate_track, line->aggregated, line->aggregated_args});
  }
  auto blocks = builder.blocks(sizes);
  const trace::KeyId occurrences = builder.key("num_occurrences");
  for_each_line(input.pool, by_size, [&](size_t i) {
    auto& [plane, line] = by_size[i];
    xplane::Fill fill{*plane,
                      *line,
                      blocks[line->block],
                      line->aggregated != 0 ? &blocks[line->block + 1] : nullptr,
                      occurrences,
                      space.subtract_ns,
                      input.part_read};
    xplane::fill(fill);
  });
  uint64_t damaged = 0, nameless = 0;
  for (auto& [plane, line] : lines) {
    xplane::intern_local_text(*line, blocks[line->block], builder);
    if (line->aggregated != 0) xplane::intern_local_text(*line, blocks[line->block + 1], builder);
    damaged += line->damaged;
    nameless += line->nameless;
  }
  builder.set_used(std::move(blocks));

  for (auto& [text, severity] : messages) builder.diagnose(severity, to_utf8(text));
  if (cut) {
    builder.diagnose(Diagnostic::Severity::kWarning,
                     fmt::format("the file of {} bytes is cut off or damaged; what could be read "
                                 "is shown",
                                 input.bytes.size()));
  }
  if (damaged != 0) {
    builder.diagnose(Diagnostic::Severity::kWarning,
                     fmt::format("{} events or stats could not be decoded", damaged));
  }
  if (nameless != 0) {
    builder.diagnose(Diagnostic::Severity::kWarning,
                     fmt::format("{} events refer to names the file does not hold", nameless));
  }
  return {};
}

// A plane's name comes early; other protobuf files (RunMetadata, event records) have other shapes.
bool sniff(std::string_view name, Bytes head) {
  wire::Cursor cursor(head);
  wire::Field field;
  if (head.empty()) return name.ends_with("xplane.pb");
  const std::byte* end = head.data() + head.size();
  uint64_t key, length;
  const std::byte* p = wire::read_varint(head.data(), end, key);
  if (!p || !(key == 0x0a || key == 0x12 || key == 0x1a || key == 0x22)) return false;
  if (!(p = wire::read_varint(p, end, length))) return false;
  if (key != 0x0a) return name.find("xplane") != std::string_view::npos;
  bool looks_like_plane = false, cut = false;
  const size_t have = std::min<uint64_t>(length, static_cast<uint64_t>(end - p));
  walk_fields(Bytes{p, have}, cut, [&](const wire::Field& f) {
    if (f.number != fields::XPlane::kName || !f.is_bytes()) return;
    const std::string_view text = f.text();
    looks_like_plane |= text.starts_with("/host:") || text.starts_with("/device:") ||
                        text.starts_with("#Chip") || text.starts_with("/virtualdevice") ||
                        text == "Task Environment" || text == "Host CPUs" || text == "Syscalls";
  });
  return looks_like_plane || name.find("xplane.pb") != std::string_view::npos;
}

}  // namespace

extern const Importer kXplane;
const Importer kXplane{"xplane", "XSpace of TensorFlow, JAX and PyTorch/XLA", sniff, read};

}  // namespace sonde::imports
