// Memory snapshots: the curve of what was allocated, who held it at the peak, each large allocation
// as a band over time, the segments and their holes.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <cstdlib>

#include "capture/analysis/analysis.h"
#include "capture/analysis/memory/snapshot.h"
#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

using namespace memory;
using trace::kNone;
using trace::StringId;

constexpr size_t kBuckets = 600;     // of the curves
constexpr size_t kSites = 12;        // drawn by colour; the others are one more
constexpr size_t kBands = 200;       // single allocations that are drawn
constexpr size_t kStackRows = 1000;  // rows of a table
constexpr size_t kBlockRows = 4000;
constexpr size_t kMostFlameNodes = 4000;
constexpr size_t kMomentSegments = 60, kMomentBlocks = 4000;

double ms(int64_t ps) { return static_cast<double>(ps) / 1e9; }
double megabytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// What one stack has allocated.
struct Site {
  StringId stack = kNone;
  int64_t peak_bytes = 0, peak_count = 0, end_bytes = 0, end_count = 0, total_bytes = 0, count = 0;
};

std::vector<Site> sites_of(const Device& device) {
  std::vector<Site> sites;
  boost::unordered_flat_map<StringId, size_t> place;
  const auto site = [&](StringId stack) -> Site& {
    const auto [found, is_new] = place.emplace(stack, sites.size());
    if (is_new) sites.push_back({stack});
    return sites[found->second];
  };
  for (const Allocation& one : device.allocations) {
    Site& s = site(one.stack);
    s.total_bytes += one.bytes;
    ++s.count;
    const bool at_peak =
        one.begin_ps <= device.peak_ps && (one.end_ps > device.peak_ps || (one.is_alive));
    if (at_peak) s.peak_bytes += one.bytes, ++s.peak_count;
    if (one.is_alive) s.end_bytes += one.bytes, ++s.end_count;
  }
  if (!device.has_history) {
    for (const Block& block : device.blocks) {
      if (!block.is_used) continue;
      Site& s = site(block.stack);
      s.peak_bytes += block.bytes, s.peak_count += block.count;
      s.end_bytes += block.bytes, s.end_count += block.count;
      s.total_bytes += block.bytes, s.count += block.count;
    }
  }
  std::stable_sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) {
    return a.peak_bytes != b.peak_bytes ? a.peak_bytes > b.peak_bytes
                                        : a.total_bytes > b.total_bytes;
  });
  return sites;
}

std::string site_name(const trace::Trace& trace, StringId stack) {
  return stack == kNone ? "not recorded" : std::string(site_of(trace.text(stack)));
}

void add_stacks(Report& report, const trace::Trace& trace, const Device& device,
                const std::vector<Site>& sites) {
  Table& table = report.table("stacks", "Who holds the memory");
  table.columns = {
      {"site", "Allocated by", Type::kText},
      {"peak_bytes", device.has_history ? "At the peak" : "Held", Type::kNumber, "bytes"},
      {"peak_percent", "Share", Type::kNumber, "%", "peak"},
      {"peak_count", "Allocations", Type::kNumber},
      {"end_bytes", "In the snapshot", Type::kNumber, "bytes"},
      {"total_bytes", "Allocated in all", Type::kNumber, "bytes"},
      {"count", "Times", Type::kNumber},
      {"stack", "Stack, innermost first", Type::kText}};
  for (size_t i = 0; i < std::min(sites.size(), kStackRows); ++i) {
    const Site& s = sites[i];
    table.rows.push_back(
        {site_name(trace, s.stack), s.peak_bytes,
         100 * ratio(static_cast<double>(s.peak_bytes), static_cast<double>(device.peak_bytes)),
         s.peak_count, s.end_bytes, s.total_bytes, s.count,
         s.stack == kNone ? std::string() : std::string(trace.text(s.stack))});
  }
}

// The curve, and the same by who allocated: of each stretch of time the moment with most in use.
void add_timeline(Report& report, const trace::Trace& trace, const Device& device,
                  const std::vector<Site>& sites) {
  if (!device.has_history) return;
  const int64_t span = std::max<int64_t>(1, device.end_ps - device.begin_ps);
  const auto bucket = [&](int64_t ps) {
    const double share = static_cast<double>(ps - device.begin_ps) / static_cast<double>(span);
    return std::min(kBuckets - 1, static_cast<size_t>(std::max(0.0, share) * kBuckets));
  };
  std::vector<Point> best(kBuckets, {INT64_MIN, -1, 0}), last(kBuckets, {INT64_MIN, -1, 0});
  for (const Point& point : device.curve) {
    const size_t b = bucket(point.time_ps);
    if (point.allocated > best[b].allocated) best[b] = point;
    last[b] = point;
  }
  const size_t shown = std::min(sites.size(), kSites);
  boost::unordered_flat_map<StringId, size_t> place;
  for (size_t i = 0; i < shown; ++i) place.emplace(sites[i].stack, i);
  // Sites: what each adds and takes away, in order of time.
  struct Change {
    int64_t ps, bytes;
    size_t site;
  };
  std::vector<Change> changes;
  std::vector<int64_t> now(shown + 1);
  for (const Allocation& one : device.allocations) {
    const auto found = place.find(one.stack);
    const size_t site = found == place.end() ? shown : found->second;
    if (one.is_older) {
      now[site] += one.bytes;
    } else {
      changes.push_back({one.begin_ps, one.bytes, site});
    }
    if (!one.is_alive) changes.push_back({one.end_ps, -one.bytes, site});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.ps < b.ps; });
  Table& curve = report.table("timeline", "Memory over time");
  curve.columns = {{"time_ms", "Time", Type::kNumber, "ms"},
                   {"allocated", "Allocated", Type::kNumber, "bytes"},
                   {"reserved", "Reserved", Type::kNumber, "bytes"}};
  for (size_t i = 0; i <= shown; ++i)
    curve.columns.push_back({fmt::format("site{}", i),
                             i == shown ? "others" : site_name(trace, sites[i].stack),
                             Type::kNumber, "bytes"});
  size_t at = 0;
  Point held{device.begin_ps, -1, 0};
  for (size_t b = 0; b < kBuckets; ++b) {
    const bool is_empty = best[b].allocated < 0;
    if (is_empty && b > 0 && b + 1 < kBuckets && best[b - 1].allocated < 0) continue;
    const int64_t time =
        is_empty ? device.begin_ps + static_cast<int64_t>(static_cast<double>(span) *
                                                          static_cast<double>(b) / kBuckets)
                 : best[b].time_ps;
    while (at < changes.size() && changes[at].ps <= time) {
      now[changes[at].site] += changes[at].bytes;
      ++at;
    }
    int64_t total = 0;
    for (const int64_t bytes : now) total += bytes;
    const Point& point = is_empty ? held : best[b];
    std::vector<Cell> row{ms(time - device.begin_ps), is_empty ? total : point.allocated,
                          point.reserved};
    for (const int64_t bytes : now) row.emplace_back(std::max<int64_t>(0, bytes));
    curve.rows.push_back(std::move(row));
    if (!is_empty) held = last[b];
  }
}

// The largest allocations as bands: what is freed lets those above it sink. The band of all others
// lies on top.
Json bands_of(const trace::Trace& trace, const Device& device) {
  std::vector<size_t> chosen(device.allocations.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  const size_t count = std::min(kBands, chosen.size());
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<ptrdiff_t>(count), chosen.end(),
                    [&](size_t a, size_t b) {
                      const auto &x = device.allocations[a], &y = device.allocations[b];
                      return x.bytes != y.bytes ? x.bytes > y.bytes : a < b;
                    });
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());  // by begin
  struct Event {
    int64_t ps;
    size_t band;
    bool begins;
  };
  std::vector<Event> events;
  for (size_t b = 0; b < count; ++b) {
    const Allocation& one = device.allocations[chosen[b]];
    events.push_back({one.begin_ps, b, true});
    if (!one.is_alive) events.push_back({one.end_ps, b, false});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.ps < b.ps; });
  std::vector<Json::Array> path(count);
  std::vector<size_t> live;
  std::vector<int64_t> offset(count);
  const auto place = [&](size_t band, int64_t ps, int64_t y) {
    offset[band] = y;
    path[band].push_back(Json(ms(ps - device.begin_ps)));
    path[band].push_back(Json(y));
  };
  int64_t top = 0;
  for (const Event& event : events) {
    const int64_t bytes = device.allocations[chosen[event.band]].bytes;
    if (event.begins) {
      live.push_back(event.band);
      place(event.band, event.ps, top);
      top += bytes;
      continue;
    }
    const auto gone = std::find(live.begin(), live.end(), event.band);
    if (gone == live.end()) continue;
    for (auto above = gone + 1; above != live.end(); ++above)
      place(*above, event.ps, offset[*above] - bytes);
    live.erase(gone);
    top -= bytes;
  }
  Json list = Json::array();
  for (size_t b = 0; b < count; ++b) {
    const Allocation& one = device.allocations[chosen[b]];
    Json band;
    band.set("bytes", one.bytes);
    band.set("begin_ms", ms(one.begin_ps - device.begin_ps));
    band.set("end_ms", ms(one.end_ps - device.begin_ps));
    band.set("address", fmt::format("0x{:x}", one.address));
    band.set("older", one.is_older);
    band.set("alive", one.is_alive);
    band.set("site", site_name(trace, one.stack));
    if (one.stack != kNone) band.set("stack", trace.text(one.stack));
    band.set("path", Json(std::move(path[b])));
    list.push(std::move(band));
  }
  return list;
}

// Bytes at the peak by call: outermost frames first.
Json flame_of(const trace::Trace& trace, const std::vector<Site>& sites) {
  struct Node {
    std::string_view frame;
    size_t parent;
    int64_t bytes;
  };
  std::vector<Node> nodes{{{}, 0, 0}};
  boost::unordered_flat_map<std::pair<size_t, std::string_view>, size_t> known;
  for (const Site& site : sites) {
    if (site.peak_bytes == 0) continue;
    size_t at = 0;
    nodes[0].bytes += site.peak_bytes;
    std::vector<std::string_view> frames;
    const std::string_view stack =
        site.stack == kNone ? std::string_view("not recorded") : trace.text(site.stack);
    for (size_t from = 0; from < stack.size();) {
      const size_t end = std::min(stack.find('\n', from), stack.size());
      frames.push_back(stack.substr(from, end - from));
      from = end + 1;
    }
    for (size_t i = frames.size(); i > 0; --i) {
      const auto [found, is_new] = known.emplace(std::pair{at, frames[i - 1]}, nodes.size());
      if (is_new) {
        if (nodes.size() >= kMostFlameNodes) {
          known.erase(found);
          break;
        }
        nodes.push_back({frames[i - 1], at, 0});
      }
      at = found->second;
      nodes[at].bytes += site.peak_bytes;
    }
  }
  Json list = Json::array();
  for (const Node& node : nodes) {
    Json one;
    one.set("name", node.frame);
    one.set("parent", static_cast<int64_t>(node.parent));
    one.set("bytes", node.bytes);
    list.push(std::move(one));
  }
  return list;
}

void add_segments(Report& report, const trace::Trace& trace, const Device& device) {
  if (device.segments.empty()) return;
  Table& segments = report.table("segments", "Segments");
  segments.columns = {{"address", "Address", Type::kText},
                      {"bytes", "Size", Type::kNumber, "bytes"},
                      {"allocated", "Allocated", Type::kNumber, "bytes"},
                      {"used_percent", "Used", Type::kNumber, "%", "size"},
                      {"largest_free", "Largest hole", Type::kNumber, "bytes"},
                      {"kind", "Kind", Type::kText},
                      {"stream", "Stream"},
                      {"expandable", "Expandable", Type::kBool}};
  std::vector<const Segment*> order;
  for (const Segment& one : device.segments) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [](const Segment* a, const Segment* b) { return a->bytes > b->bytes; });
  for (size_t i = 0; i < std::min(order.size(), kStackRows); ++i) {
    const Segment& s = *order[i];
    segments.rows.push_back(
        {fmt::format("0x{:x}", s.address), s.bytes, s.allocated,
         100 * ratio(static_cast<double>(s.allocated), static_cast<double>(s.bytes)),
         s.largest_free, std::string(trace.text(s.kind)), s.stream, s.is_expandable});
  }
  Table& blocks = report.table("blocks", "Blocks");
  blocks.columns = {{"segment", "Segment", Type::kText},
                    {"offset", "Offset", Type::kNumber, "bytes"},
                    {"bytes", "Size", Type::kNumber, "bytes"},
                    {"state", "State", Type::kText},
                    {"site", "Allocated by", Type::kText}};
  for (size_t i = 0; i < std::min(device.blocks.size(), kBlockRows); ++i) {
    const Block& b = device.blocks[i];
    blocks.rows.push_back({fmt::format("0x{:x}", b.segment),
                           static_cast<int64_t>(b.address - b.segment), b.bytes,
                           std::string(trace.text(b.state)),
                           b.stack == kNone ? std::string() : site_name(trace, b.stack)});
  }
}

// Segments and what lay in them at a moment: the peak, or the one that is asked for (time_ms).
Json moment_json(const trace::Trace& trace, const Device& device, const Options& options) {
  const std::string asked(options.parameter("time_ms"));
  int64_t time = device.peak_ps;
  if (const double ms = std::strtod(asked.c_str(), nullptr);
      !asked.empty() && std::isfinite(ms) && std::abs(ms) < 1e9)
    time = device.begin_ps + static_cast<int64_t>(ms * 1e9);
  time = std::clamp(time, device.begin_ps, device.end_ps);
  const Moment moment = moment_of(device, time);
  Json segments = Json::array(), blocks = Json::array();
  const size_t shown = std::min(moment.segments.size(), kMomentSegments);
  std::vector<std::pair<uint64_t, size_t>> by_address;  // of those that are shown
  for (size_t i = 0; i < shown; ++i) {
    Json one;
    one.set("address", fmt::format("0x{:x}", moment.segments[i].address));
    one.set("bytes", moment.segments[i].bytes);
    segments.push(std::move(one));
    by_address.emplace_back(moment.segments[i].address, i);
  }
  std::sort(by_address.begin(), by_address.end());
  size_t drawn = 0;
  for (const Allocation* one : moment.allocations) {
    const auto after =
        std::upper_bound(by_address.begin(), by_address.end(), std::pair{one->address, SIZE_MAX});
    if (after == by_address.begin() || drawn >= kMomentBlocks) continue;
    const auto [address, index] = *std::prev(after);
    if (one->address - address >= static_cast<uint64_t>(moment.segments[index].bytes)) continue;
    Json block;
    block.set("segment", static_cast<int64_t>(index));
    block.set("offset", static_cast<int64_t>(one->address - address));
    block.set("bytes", one->bytes);
    block.set("site", site_name(trace, one->stack));
    blocks.push(std::move(block));
    ++drawn;
  }
  Json out;
  out.set("time_ms", ms(time - device.begin_ps));
  out.set("is_peak", time == device.peak_ps);
  out.set("more_segments", static_cast<int64_t>(moment.segments.size() - shown));
  out.set("segments", std::move(segments));
  out.set("blocks", std::move(blocks));
  return out;
}

void add_failures(Report& report, const trace::Trace& trace, const Device& device) {
  if (device.failures.empty()) return;
  Table& table = report.table("failures", "Out of memory");
  table.columns = {{"time_ms", "Time", Type::kNumber, "ms"},
                   {"asked", "Asked for", Type::kNumber, "bytes"},
                   {"free", "Free on the device", Type::kNumber, "bytes"},
                   {"site", "Asked by", Type::kText}};
  for (size_t i = 0; i < std::min(device.failures.size(), kStackRows); ++i) {
    const OutOfMemory& one = device.failures[i];
    table.rows.push_back(
        {ms(one.time_ps - device.begin_ps), one.asked, one.free, site_name(trace, one.stack)});
  }
}

// One sentence: how much, when, who.
Finding sentence(const trace::Trace& trace, const Device& device, const std::vector<Site>& sites) {
  Finding f;
  f.id = "MEMORY-PEAK";
  f.severity = Severity::kInfo;
  f.text = fmt::format("{:.1f} MiB {} on {}", megabytes(device.peak_bytes),
                       device.has_history ? "are allocated at the peak" : "are held", device.name);
  if (!sites.empty() && sites[0].peak_bytes > 0)
    f.text += fmt::format("; {:.0f}% of it by {} ({} allocations)",
                          100 * ratio(static_cast<double>(sites[0].peak_bytes),
                                      static_cast<double>(device.peak_bytes)),
                          site_name(trace, sites[0].stack), sites[0].peak_count);
  if (!device.failures.empty()) {
    f.severity = Severity::kCritical;
    f.text += fmt::format("; {} request{} found no memory", device.failures.size(),
                          device.failures.size() == 1 ? "" : "s");
  }
  f.text += ".";
  f.numbers = {{"peak_bytes", static_cast<double>(device.peak_bytes)}};
  return f;
}

Result<Report> run(const Session& session, const Options& options) {
  Report report;
  Table devices{"devices", "Devices"};
  devices.columns = {{"device", "Device", Type::kText},
                     {"host", "Host", Type::kText},
                     {"peak", "Peak", Type::kNumber, "bytes"},
                     {"allocated", "In the snapshot", Type::kNumber, "bytes"},
                     {"reserved", "Reserved", Type::kNumber, "bytes"},
                     {"events", "Events"}};
  const std::string_view wanted = options.parameter("device");
  const HostAnalysis* chosen_host = nullptr;
  Device chosen;
  for (const HostAnalysis* host : chosen_hosts(session, options)) {
    if (!is_snapshot(host->trace())) continue;
    for (Device& device : devices_of(host->trace())) {
      if (device.peak_bytes == 0 && device.reserved == 0) continue;
      devices.rows.push_back({device.name, host->host().name, device.peak_bytes, device.allocated,
                              device.reserved, static_cast<int64_t>(device.curve.size())});
      const bool is_better = wanted.empty() && device.peak_bytes > chosen.peak_bytes;
      if (!chosen_host || is_better || (device.name == wanted && chosen.name != wanted)) {
        chosen_host = host;
        chosen = std::move(device);
      }
    }
  }
  if (!chosen_host) {
    report.missing.push_back({"a snapshot of memory", "the capture holds none",
                              "torch.cuda.memory._dump_snapshot(\"memory.pickle\") or "
                              "jax.profiler.save_device_memory_profile(\"memory.prof\")"});
    return report;
  }
  const trace::Trace& trace = chosen_host->trace();
  const std::vector<Site> sites = sites_of(chosen);
  report.figure("device", "Device", chosen.name);
  report.figure("peak", chosen.has_history ? "Peak" : "Held", chosen.peak_bytes, "bytes");
  if (chosen.has_history) {
    report.figure("peak_time", "Reached after", ms(chosen.peak_ps - chosen.begin_ps), "ms");
    report.figure("events", "Events", static_cast<int64_t>(chosen.curve.size()));
  }
  report.figure("allocated", "In the snapshot", chosen.allocated, "bytes");
  if (!chosen.segments.empty()) {
    report.figure("reserved", "Reserved", chosen.reserved, "bytes");
    report.figure("fragmentation", "Fragmented free memory", 100 * chosen.fragmentation(), "%",
                  "free reserved memory");
  }
  report.findings.push_back(sentence(trace, chosen, sites));
  add_timeline(report, trace, chosen, sites);
  add_stacks(report, trace, chosen, sites);
  add_failures(report, trace, chosen);
  add_segments(report, trace, chosen);
  if (devices.rows.size() > 1) report.tables.push_back(std::move(devices));
  Json document;
  if (chosen.has_history) {
    document.set("bands", bands_of(trace, chosen));
    if (!chosen.segments.empty() || !chosen.segment_changes.empty())
      document.set("moment", moment_json(trace, chosen, options));
  }
  document.set("flame", flame_of(trace, sites));
  report.document = std::move(document);
  for (const trace::Diagnostic& d : trace.diagnostics())
    report.diagnostics.push_back(
        {d.severity == trace::Diagnostic::Severity::kInfo ? "info" : "warning", d.text});
  return report;
}

std::string missing(const Session& session) {
  for (const trace::Host& host : session.hosts()) {
    if (is_snapshot(*host.trace)) return {};
  }
  return "the capture is no snapshot of memory (torch.cuda.memory._dump_snapshot, "
         "jax.profiler.save_device_memory_profile)";
}

}  // namespace

extern const Tool kMemorySnapshot;
const Tool kMemorySnapshot{"memory_snapshot", "Memory snapshot", run, missing};

}  // namespace sonde::capture
