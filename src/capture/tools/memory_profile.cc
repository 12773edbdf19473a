// Memory over time: every allocator's use, its peak, and what was alive at the peak. From the
// allocator events of the host threads, put in order of time first: threads write them separately.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>

#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

using trace::SliceId;
constexpr size_t kTimelinePoints = 1000;

struct Snapshot {
  int64_t time_ps = 0;
  int64_t stack = 0, heap = 0, free = 0, peak = 0;
  double fragmentation = 0;
  bool allocation = true;
  int64_t requested = 0, size = 0;
  uint64_t address = 0;
  std::string_view op, region, shape;
  int64_t data_type = 0;
  int64_t step = -1;

  int64_t used() const { return stack + heap; }
};

std::string_view data_type_name(int64_t type) {
  static constexpr std::string_view kNames[] = {
      "INVALID",  "float",     "double",  "int32",       "uint8",        "int16",  "int8",
      "string",   "complex64", "int64",   "bool",        "qint8",        "quint8", "qint32",
      "bfloat16", "qint16",    "quint16", "uint16",      "complex128",   "half",   "resource",
      "variant",  "uint32",    "uint64",  "float8_e5m2", "float8_e4m3fn"};
  return type >= 0 && type < static_cast<int64_t>(std::size(kNames)) ? kNames[type] : "INVALID";
}

struct Active {
  size_t snapshot = 0;  // index, or -1 of the special rows
  bool special = false;
  int64_t size, requested;
  std::string op, region, type, shape;
  int64_t count = 1;
};

struct Allocator {
  std::vector<Snapshot> snapshots;
  size_t peak = 0;
  int64_t lifetime_peak = 0;
  std::vector<Active> active;
  int64_t unmapped = 0;
  int64_t peak_step = 0;
};

struct Collected {
  std::map<std::string, Allocator> allocators;
  int64_t base_ps = 0;  // where the allocators' time 0 lies in the trace
};

Collected collect(const HostAnalysis& host) {
  const trace::Trace& trace = host.trace();
  const Vocabulary& words = host.words();
  const Keys& key = words.key;
  const trace::KeyId base_key = trace.key("xplane.base_ps");
  std::map<std::string, Allocator> allocators;
  std::vector<std::pair<SliceId, bool>> events;
  int64_t base = INT64_MAX;
  for (const trace::TrackId plane : words.host_planes) {
    for (const trace::TrackId t : lines_of(trace, plane)) {
      const trace::Track& track = trace.tracks()[t];
      bool any = false;
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const HostEvent event = words.labels[trace.label_id(s)].event;
        if (event != HostEvent::kMemoryAllocation && event != HostEvent::kMemoryDeallocation)
          continue;
        events.emplace_back(s, event == HostEvent::kMemoryAllocation);
        any = true;
      }
      if (!any) continue;
      const auto line_base = trace.find(track.args, base_key);
      base = std::min(base, line_base ? line_base->as_int() : 0);
    }
  }
  for (const auto& [s, allocation] : events) {
    Snapshot snapshot;
    snapshot.allocation = allocation;
    // Since the first line with allocator events began: lines have bases of their own.
    snapshot.time_ps = trace.begin(s).value - base;
    std::string id;
    const trace::ArgRange range = trace.args(s);
    for (uint32_t a = range.first; a < range.first + range.count; ++a) {
      const trace::Arg arg = trace.arg(a);
      const trace::ArgValue& v = arg.value;
      if (arg.key == key.allocator_name) id = trace.text_of(v);
      if (arg.key == key.index_on_host || arg.key == key.device_ordinal)
        id = fmt::format("{}", v.as_int());
      if (arg.key == key.bytes_reserved) snapshot.stack = v.as_int();
      if (arg.key == key.bytes_allocated) snapshot.heap = v.as_int();
      if (arg.key == key.bytes_available) snapshot.free = v.as_int();
      if (arg.key == key.peak_bytes) snapshot.peak = v.as_int();
      if (arg.key == key.fragmentation) snapshot.fragmentation = v.as_double();
      if (arg.key == key.requested_bytes) snapshot.requested = v.as_int();
      if (arg.key == key.allocation_bytes) snapshot.size = v.as_int();
      if (arg.key == key.address) snapshot.address = v.as_uint();
      if (arg.key == key.tf_op) snapshot.op = trace.text_of(v);
      if (arg.key == key.region_type) snapshot.region = trace.text_of(v);
      if (arg.key == key.data_type) snapshot.data_type = v.as_int();
      if (arg.key == key.tensor_shapes) snapshot.shape = trace.text_of(v);
    }
    // Derived steps are too coarse a guess to say what belongs together in memory.
    snapshot.step = host.grouping().derived_rule.empty() ? host.grouping().of[s] : -1;
    allocators[id].snapshots.push_back(snapshot);
  }
  return {std::move(allocators), events.empty() ? 0 : base};
}

void analyse(Allocator& allocator) {
  auto& list = allocator.snapshots;
  std::stable_sort(list.begin(), list.end(),
                   [](const Snapshot& a, const Snapshot& b) { return a.time_ps < b.time_ps; });
  int64_t last_step = -1;
  boost::unordered_flat_map<uint64_t, size_t> open;
  for (size_t i = 0; i < list.size(); ++i) {
    Snapshot& s = list[i];
    allocator.lifetime_peak = std::max({allocator.lifetime_peak, s.peak, s.used()});
    if (s.used() >= list[allocator.peak].used()) allocator.peak = i;
    if (s.step < 0) {
      s.step = last_step + 1;
    } else {
      last_step = s.step;
    }
    if (s.allocation) {
      open.try_emplace(s.address, i);
    } else if (const auto found = open.find(s.address); found != open.end()) {
      const Snapshot& made = list[found->second];
      s.op = made.op, s.region = made.region, s.shape = made.shape, s.data_type = made.data_type;
      open.erase(found);
    }
  }
  const Snapshot& peak = list[allocator.peak];
  allocator.peak_step = peak.step;
  std::map<uint64_t, size_t> alive;
  int64_t unmapped = peak.heap, freed_unseen = 0;
  for (size_t i = 0; i < list.size() && list[i].time_ps <= peak.time_ps; ++i) {
    const Snapshot& s = list[i];
    if (s.step != peak.step) continue;
    if (s.allocation) {
      alive[s.address] = i;
      unmapped -= s.size;
    } else {
      if (alive.erase(s.address) == 0) freed_unseen += s.size;
      unmapped += s.size;
    }
  }
  unmapped -= freed_unseen;
  std::vector<Active> rows;
  for (const auto& [address, i] : alive) {
    const Snapshot& s = list[i];
    rows.push_back({i, false, s.size, s.requested, std::string(s.op), std::string(s.region),
                    std::string(data_type_name(s.data_type)), std::string(s.shape)});
  }
  if (unmapped > 0) {
    allocator.unmapped = unmapped;
    rows.push_back({0, true, unmapped, unmapped, "unused preallocated device memory",
                    "persist/dynamic", "INVALID", "unknown"});
  }
  if (peak.stack > 0)
    rows.push_back({0, true, peak.stack, peak.stack, "stack", "stack", "INVALID", "unknown"});
  const auto key = [](const Active& a) {
    return std::make_tuple(-a.size, -a.requested, std::string_view(a.op),
                           std::string_view(a.region), std::string_view(a.type),
                           std::string_view(a.shape));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Active& a, const Active& b) { return key(a) < key(b); });
  for (Active& row : rows) {
    if (!allocator.active.empty() && key(allocator.active.back()) == key(row) &&
        allocator.active.back().special == row.special) {
      ++allocator.active.back().count;
    } else {
      allocator.active.push_back(std::move(row));
    }
  }
}

std::string number(int64_t value) { return fmt::format("{}", value); }

Json stats_json(const Snapshot& s, int64_t peak_bytes) {
  Json out = Json::object();
  out.set("stackReservedBytes", number(s.stack)).set("heapAllocatedBytes", number(s.heap));
  out.set("freeMemoryBytes", number(s.free)).set("fragmentation", s.fragmentation);
  out.set("peakBytesInUse", number(peak_bytes));
  return out;
}

Json snapshot_json(const Snapshot& s) {
  Json activity = Json::object();
  activity.set("memoryActivity", s.allocation ? "ALLOCATION" : "DEALLOCATION");
  activity.set("requestedBytes", number(s.requested)).set("allocationBytes", number(s.size));
  activity.set("address", fmt::format("{}", s.address)).set("tfOpName", s.op);
  activity.set("stepId", number(s.step)).set("regionType", s.region);
  activity.set("dataType", data_type_name(s.data_type)).set("tensorShape", s.shape);
  Json out = Json::object();
  out.set("timeOffsetPs", number(s.time_ps)).set("aggregationStats", stats_json(s, s.peak));
  out.set("activityMetadata", std::move(activity));
  return out;
}

// At most 1000 snapshots, each the largest of its share.
std::vector<const Snapshot*> sampled(const std::vector<Snapshot>& list) {
  std::vector<const Snapshot*> out;
  const size_t n = list.size();
  if (n <= kTimelinePoints) {
    for (const Snapshot& s : list) out.push_back(&s);
    return out;
  }
  const size_t width = n / kTimelinePoints, narrow = kTimelinePoints * (width + 1) - n;
  for (size_t at = 0, box = 0; at < n; ++box) {
    const size_t end = std::min(n, at + width + (box < narrow ? 0 : 1));
    const Snapshot* most = &list[at];
    for (; at < end; ++at) {
      if (list[at].used() > most->used()) most = &list[at];
    }
    out.push_back(most);
  }
  return out;
}

Json allocator_json(const Allocator& a) {
  Json snapshots = Json::array(), active = Json::array(), special = Json::array(),
       timeline = Json::array();
  int64_t next = 0, next_special = 0;
  for (const Active& row : a.active) {
    Json entry = Json::object();
    entry.set("snapshotIndex", number(row.special ? -1 : next));
    entry.set("specialIndex", number(row.special ? next_special : -1));
    entry.set("numOccurrences", number(row.count));
    active.push(std::move(entry));
    if (row.special) {
      ++next_special;
      Json s = Json::object();
      s.set("memoryActivity", "ALLOCATION").set("requestedBytes", number(row.requested));
      s.set("allocationBytes", number(row.size)).set("address", "0").set("tfOpName", row.op);
      s.set("stepId", number(a.peak_step)).set("regionType", row.region);
      s.set("dataType", row.type).set("tensorShape", row.shape);
      special.push(std::move(s));
    } else {
      ++next;
      snapshots.push(snapshot_json(a.snapshots[row.snapshot]));
    }
  }
  for (const Snapshot* s : sampled(a.snapshots)) timeline.push(snapshot_json(*s));
  const Snapshot& peak = a.snapshots[a.peak];
  Json summary = Json::object();
  summary.set("peakBytesUsageLifetime", number(a.lifetime_peak));
  summary.set("peakStats", stats_json(peak, peak.used()));
  summary.set("peakStatsTimePs", number(peak.time_ps));
  summary.set("memoryCapacity", number(peak.used() + peak.free));
  Json out = Json::object();
  out.set("memoryProfileSnapshots", std::move(snapshots)).set("profileSummary", std::move(summary));
  out.set("activeAllocations", std::move(active)).set("specialAllocations", std::move(special));
  out.set("sampledTimelineSnapshots", std::move(timeline));
  return out;
}

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (host->trace().key("MemoryAllocation") != trace::kNone) return {};
  }
  return "no allocator events in this capture";
}

void add_tables(const std::string& host, const std::map<std::string, Allocator>& allocators,
                Table& summary, Table& active, Table& timeline) {
  for (const auto& [id, a] : allocators) {
    const Snapshot& peak = a.snapshots[a.peak];
    int64_t allocations = 0;
    for (const Snapshot& s : a.snapshots) allocations += s.allocation;
    summary.rows.push_back({host, id, allocations,
                            static_cast<int64_t>(a.snapshots.size()) - allocations,
                            peak.used() + peak.free, a.lifetime_peak, peak.used(),
                            static_cast<double>(peak.time_ps) / 1e9, peak.stack, peak.heap,
                            peak.free, 100 * peak.fragmentation});
    for (const Active& row : a.active)
      active.rows.push_back(
          {host, id, row.op, row.size, row.requested, row.count, row.region, row.type, row.shape});
    for (const Snapshot* s : sampled(a.snapshots))
      timeline.rows.push_back({id, static_cast<double>(s->time_ps) / 1e9, s->used(), s->stack,
                               s->free, 100 * s->fragmentation});
  }
}

// One run of a compiled program on a device.
struct ProgramRun {
  std::string_view program, device;
  int64_t begin = 0, end = 0;
};

// TPUs record the runs themselves. A GPU's are the kernels of one program in one step.
std::vector<ProgramRun> device_programs(const HostAnalysis& host) {
  const trace::Trace& trace = host.trace();
  const Vocabulary& words = host.words();
  std::vector<ProgramRun> runs;
  for (const trace::TrackId plane : words.tpu_planes) {
    for (const trace::TrackId line : lines_of(trace, plane)) {
      const trace::Track& track = trace.tracks()[line];
      if (trace.text(track.name) != "XLA Modules") continue;
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s)
        runs.push_back({trace.name(s), trace.shown_track_name(plane), trace.begin(s).value,
                        trace.end(s).value});
    }
  }
  for (const trace::TrackId plane : words.gpu_planes) {
    std::map<std::pair<int32_t, std::string_view>, ProgramRun> by_step;
    for (const trace::TrackId line : lines_of(trace, plane)) {
      if (words.derived[line]) continue;
      const trace::Track& track = trace.tracks()[line];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const std::string_view program = trace.text_of(trace.find(s, words.key.hlo_module));
        const int32_t step = host.grouping().of[s];
        if (program.empty() || step < 0) continue;
        const auto [run, is_new] = by_step.try_emplace(
            {step, program}, ProgramRun{program, trace.shown_track_name(plane),
                                        trace.begin(s).value, trace.end(s).value});
        run->second.begin = std::min(run->second.begin, trace.begin(s).value);
        run->second.end = std::max(run->second.end, trace.end(s).value);
      }
    }
    for (const auto& [key, run] : by_step) runs.push_back(run);
  }
  std::stable_sort(runs.begin(), runs.end(), [](const ProgramRun& a, const ProgramRun& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.program < b.program;
  });
  return runs;
}

// On the clock of the allocators.
void add_programs(const HostAnalysis& host, int64_t base_ps, Table& table) {
  for (const ProgramRun& run : device_programs(host)) {
    table.rows.push_back({std::string(run.program), host.host().name, std::string(run.device),
                          static_cast<double>(run.begin - base_ps) / 1e9,
                          static_cast<double>(run.end - run.begin) / 1e9});
  }
}

// When each TPU ran which compiled program, so that a curve can be read against them.
Json program_runs(const std::vector<const HostAnalysis*>& hosts) {
  Json runs = Json::array();
  int64_t id = 0;
  for (const HostAnalysis* host : hosts) {
    const trace::Trace& trace = host->trace();
    for (const trace::TrackId plane : host->words().tpu_planes) {
      std::string_view name = trace.text(trace.tracks()[plane].name);
      if (name.starts_with("/device:")) name.remove_prefix(8);
      for (const trace::TrackId line : lines_of(trace, plane)) {
        const trace::Track& track = trace.tracks()[line];
        if (trace.text(track.name) != "XLA Modules") continue;
        for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          Json run = Json::object();
          run.set("name", trace.name(s))
              .set("startTimePs", fmt::format("{}", trace.begin(s).value))
              .set("endTimePs", fmt::format("{}", trace.end(s).value))
              .set("id", fmt::format("{}", id++))
              .set("planeName", name);
          runs.push(std::move(run));
        }
      }
    }
  }
  return runs;
}

Result<Report> memory_profile(const Session& session, const Options& options) {
  Report report;
  Table summary{"allocators", "Allocators"};
  summary.columns = {{"host", "Host", Type::kText},
                     {"allocator", "Allocator", Type::kText},
                     {"allocations", "Allocations"},
                     {"deallocations", "Deallocations"},
                     {"capacity", "Capacity", Type::kNumber, "bytes"},
                     {"lifetime_peak", "Peak, lifetime", Type::kNumber, "bytes"},
                     {"peak", "Peak, capture", Type::kNumber, "bytes"},
                     {"peak_time", "Time of peak", Type::kNumber, "ms"},
                     {"stack", "Stack at peak", Type::kNumber, "bytes"},
                     {"heap", "Heap at peak", Type::kNumber, "bytes"},
                     {"free", "Free at peak", Type::kNumber, "bytes"},
                     {"fragmentation", "Fragmentation at peak", Type::kNumber, "%"}};
  Table active{"active_at_peak", "Alive at the peak"};
  active.columns = {{"host", "Host", Type::kText},
                    {"allocator", "Allocator", Type::kText},
                    {"op", "Op", Type::kText, "", "", "framework_op_stats"},
                    {"allocated", "Allocated", Type::kNumber, "bytes"},
                    {"requested", "Requested", Type::kNumber, "bytes"},
                    {"occurrences", "Occurrences"},
                    {"region", "Region", Type::kText},
                    {"type", "Type", Type::kText},
                    {"shape", "Shape", Type::kText}};
  Table timeline{"timeline", "Memory over time"};
  timeline.columns = {{"allocator", "Allocator", Type::kText},
                      {"time", "Time", Type::kNumber, "ms"},
                      {"used", "In use", Type::kNumber, "bytes"},
                      {"stack", "Stack", Type::kNumber, "bytes"},
                      {"free", "Free", Type::kNumber, "bytes"},
                      {"fragmentation", "Fragmentation", Type::kNumber, "%"}};
  Table programs_table{"programs", "Compiled programs"};
  programs_table.columns = {{"program", "Program", Type::kText},
                            {"host", "Host", Type::kText},
                            {"device", "Device", Type::kText},
                            {"begin", "Start", Type::kNumber, "ms"},
                            {"duration", "Duration", Type::kNumber, "ms"}};
  const auto hosts = chosen_hosts(session, options);
  Json document = Json::object(), per_allocator = Json::object(), ids = Json::array();
  for (const HostAnalysis* host : hosts) {
    auto [allocators, base_ps] = collect(*host);
    if (!allocators.empty()) add_programs(*host, base_ps, programs_table);
    for (auto& [id, allocator] : allocators) {
      analyse(allocator);
      const std::string name = hosts.size() > 1 ? host->host().name + " " + id : id;
      per_allocator.set(name, allocator_json(allocator));
      ids.push(name);
      const Snapshot& peak = allocator.snapshots[allocator.peak];
      const int64_t capacity = peak.used() + peak.free;
      Finding f;
      f.id = "MEM-PEAK";
      f.fired =
          capacity > 0 && static_cast<double>(peak.used()) >= 0.9 * static_cast<double>(capacity);
      f.severity = f.fired ? Severity::kMajor : Severity::kInfo;
      f.text = fmt::format("{:.1f} of {:.1f} GB of {} are in use at the peak.",
                           static_cast<double>(peak.used()) / 1e9,
                           static_cast<double>(capacity) / 1e9, name);
      f.action =
          "Little is left before the program runs out of memory: a smaller batch, recomputing "
          "activations "
          "in the backward pass, or an optimizer with less state.";
      f.diff =
          "+step = tf.recompute_grad(step)   # JAX: jax.checkpoint, PyTorch: "
          "torch.utils.checkpoint";
      f.evidence = {{"memory_profile", name}};
      report.findings.push_back(std::move(f));
    }
    add_tables(host->host().name, allocators, summary, active, timeline);
  }
  document.set("memoryProfilePerAllocator", std::move(per_allocator));
  Json programs = program_runs(hosts);
  document.set("numHosts", static_cast<int64_t>(hosts.size()))
      .set("memoryIds", std::move(ids))
      .set("version", 1);
  if (!programs.as_array()->empty()) document.set("hloModules", std::move(programs));
  report.document = std::move(document);
  if (summary.rows.empty()) {
    report.missing.push_back(
        {"allocator events", what_is_missing(session),
         "only GPU and TPU allocators record them; on a CPU set TF_CPU_ALLOCATOR_USE_BFC=1 "
         "before the program starts"});
  }
  report.tables = {std::move(summary), std::move(active), std::move(timeline)};
  if (!programs_table.rows.empty()) report.tables.push_back(std::move(programs_table));
  report.charts.push_back({"memory", "line", "timeline", "time", {"used"}, "allocator"});
  return report;
}

}  // namespace

extern const Tool kMemoryProfile;
const Tool kMemoryProfile{"memory_profile", "Memory profile", memory_profile, what_is_missing};

}  // namespace sonde::capture
