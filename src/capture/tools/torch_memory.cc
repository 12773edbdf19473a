// Memory of a PyTorch capture: how much is in use over time, which operators take it, how long
// every allocation lives, and what is alive at the peak.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "capture/analysis/pytorch/memory_records.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

constexpr size_t kCurvePoints = 1000;  // what a Report carries inline

double ms(const Capture& c, int64_t ps) { return static_cast<double>(ps - c.first_ps) / 1e9; }
double kilobytes(int64_t bytes) { return static_cast<double>(bytes) / 1024; }

struct Point {
  int64_t time_ps, allocated, reserved;
};

// Recorded totals where the producer wrote them; captures of PyTorch 1.8 and 1.9 have only sizes,
// whose sum since the start of the capture stands in.
std::vector<Point> curve_of(const Memory& memory, size_t device, bool& relative) {
  std::vector<Point> points;
  int64_t sum = 0;
  for (const MemoryRecord& record : memory.records) {
    if (record.device != device) continue;
    sum += record.bytes;
    relative |= !record.allocated;
    points.push_back({record.time_ps, record.allocated.value_or(sum), record.reserved.value_or(0)});
  }
  return points;
}

// First, lowest, highest and last point of each of a number of stretches: no peak is lost.
std::vector<Point> thinned(const std::vector<Point>& points, size_t most) {
  if (points.size() <= most) return points;
  std::vector<Point> out;
  const size_t stretches = most / 4;
  for (size_t i = 0; i < stretches; ++i) {
    const size_t from = points.size() * i / stretches, to = points.size() * (i + 1) / stretches;
    size_t chosen[] = {from, from, from, to - 1};
    for (size_t k = from; k < to; ++k) {
      if (points[k].allocated < points[chosen[1]].allocated) chosen[1] = k;
      if (points[k].allocated > points[chosen[2]].allocated) chosen[2] = k;
    }
    std::sort(std::begin(chosen), std::end(chosen));
    for (size_t k = 0; k < 4; ++k) {
      if (k == 0 || chosen[k] != chosen[k - 1]) out.push_back(points[chosen[k]]);
    }
  }
  return out;
}

std::string default_device(const Memory& memory) {
  std::vector<std::string> names = memory.devices;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name.starts_with("GPU")) return name;
  }
  return "CPU";
}

// --- recorded views ---

void columns_table(Report& report, std::initializer_list<std::pair<const char*, bool>> columns) {
  Table& table = report.table("columns", "Columns");
  table.columns = {{"name", "", Type::kText}, {"type", "", Type::kText}};
  for (const auto& [name, is_text] : columns)
    table.rows.push_back({name, is_text ? "string" : "number"});
}

Table& numbered(Report& report, const std::string& id, size_t count) {
  Table& table = report.table(id, id);
  for (size_t i = 0; i < count; ++i) table.columns.push_back({fmt::format("col{}", i)});
  return table;
}

Report recorded_curve(const Capture& c, const Memory& memory) {
  Report report;
  columns_table(report,
                {{"Time (ms)", false}, {"Allocated (KB)", false}, {"Reserved (KB)", false}});
  std::vector<std::string> devices;
  std::vector<int64_t> peaks;
  std::vector<Table> curves;
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    Table table{"rows/" + memory.devices[d], ""};
    for (size_t i = 0; i < 3; ++i) table.columns.push_back({fmt::format("col{}", i)});
    int64_t peak = 0;
    for (const MemoryRecord& record : memory.records) {
      if (record.device != d || !record.has_address || !record.allocated || !record.reserved)
        continue;
      const double time = ms(c, record.time_ps);
      // A step: the old value up to now, then the new one.
      if (!table.rows.empty()) {
        std::vector<Cell> before = table.rows.back();
        before[0] = time;
        table.rows.push_back(std::move(before));
      }
      table.rows.push_back({time, kilobytes(*record.allocated), kilobytes(*record.reserved)});
      peak = std::max(peak, *record.allocated);
    }
    if (table.rows.empty()) continue;
    devices.push_back(memory.devices[d]);
    peaks.push_back(peak);
    curves.push_back(std::move(table));
  }
  if (!devices.empty()) {
    std::vector<std::string> sorted = devices;
    std::sort(sorted.begin(), sorted.end());
    Table& list = report.table("metadata/devices", "Devices");
    list.columns = {{"value", "", Type::kText}};
    for (const std::string& name : sorted) list.rows.push_back({name});
  }
  for (Table& curve : curves) report.tables.push_back(std::move(curve));
  std::string first = "CPU";
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].starts_with("GPU")) first = devices[i];
    report.figure("metadata/peaks/" + devices[i], "",
                  fmt::format("Peak Memory Usage: {:.1f}KB", kilobytes(peaks[i])));
  }
  report.figure("metadata/default_device", "", first);
  int64_t base = 0;
  const std::string_view text = c.trace.metadata("baseTimeNanoseconds");
  std::from_chars(text.data(), text.data() + text.size(), base);
  if (c.trace.start_ns()) {
    const int64_t ns = *c.trace.start_ns() - base + c.first_ps / 1000;
    report.figure("metadata/first_ts", "",
                  ns % 1000 == 0 ? Cell{ns / 1000} : Cell{static_cast<double>(ns) / 1e3});
  }
  report.figure("metadata/time_metric", "", "ms");
  report.figure("metadata/memory_metric", "", "KB");
  report.figure("metadata/time_factor", "", 0.001);
  report.figure("metadata/memory_factor", "", 1.0 / 1024);
  return report;
}

Report recorded_stats(const Capture& c, const Memory& memory) {
  Report report;
  columns_table(report, {{"Operator Name", true},
                         {"Calls", false},
                         {"Size Increase (KB)", false},
                         {"Self Size Increase (KB)", false},
                         {"Allocation Count", false},
                         {"Self Allocation Count", false},
                         {"Allocation Size (KB)", false},
                         {"Self Allocation Size (KB)", false}});
  const auto totals = memory_totals(c, memory);
  for (size_t d = 0; d < totals.size(); ++d) {
    if (totals[d].empty()) continue;
    Table& table = numbered(report, "rows/" + memory.devices[d], 8);
    const auto kb = [](int64_t bytes) { return rounded_for_display(kilobytes(bytes)); };
    for (const auto& [name, t] : totals[d])
      table.rows.push_back({name, t.calls, kb(t.increase), kb(t.self_increase), t.allocations,
                            t.self_allocations, kb(t.allocated), kb(t.self_allocated)});
  }
  report.figure("metadata/title", "", "Memory View");
  report.figure("metadata/default_device", "", default_device(memory));
  report.figure("metadata/search", "", "Operator Name");
  report.figure("metadata/sort", "", "Self Size Increase (KB)");
  return report;
}

struct EventRow {
  std::string name;
  int64_t bytes = 0;
  std::optional<int64_t> allocated_ps, released_ps;
};

std::vector<EventRow> event_rows(const Capture& c, const Memory& memory, size_t device) {
  std::vector<EventRow> rows;
  for (const Lifetime& life : memory.lifetimes) {
    const MemoryRecord& main =
        memory.records[life.allocation != pytorch::kNone ? life.allocation : life.release];
    if (main.device != device) continue;
    EventRow row;
    row.name = life.allocation != pytorch::kNone ? operator_name(c, main) : "<unknown>";
    row.bytes = std::abs(main.bytes);
    if (life.allocation != pytorch::kNone)
      row.allocated_ps = memory.records[life.allocation].time_ps;
    if (life.release != pytorch::kNone) {
      row.released_ps = memory.records[life.release].time_ps;
      row.bytes = std::abs(memory.records[life.release].bytes);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Report recorded_events(const Capture& c, const Memory& memory) {
  Report report;
  columns_table(report, {{"Operator", true},
                         {"Size (KB)", false},
                         {"Allocation Time (ms)", false},
                         {"Release Time (ms)", false},
                         {"Duration (ms)", false}});
  const auto time = [&](const std::optional<int64_t>& ps) {
    return ps ? Cell{rounded_for_display(ms(c, *ps))} : Cell{};
  };
  std::string first = "CPU";
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    const auto rows = event_rows(c, memory, d);
    if (rows.empty()) continue;
    if (memory.devices[d].starts_with("GPU")) first = memory.devices[d];
    Table& table = numbered(report, "rows/" + memory.devices[d], 5);
    for (const EventRow& row : rows) {
      const bool whole = row.allocated_ps && row.released_ps;
      table.rows.push_back(
          {row.name, rounded_for_display(kilobytes(row.bytes)), time(row.allocated_ps),
           time(row.released_ps),
           whole ? Cell{rounded_for_display(
                       static_cast<double>(*row.released_ps - *row.allocated_ps) / 1e9)}
                 : Cell{}});
    }
  }
  report.figure("metadata/title", "", "Memory Events");
  report.figure("metadata/default_device", "", first);
  return report;
}

// --- for people ---

void add_curve(Report& report, const Capture& c, const Memory& memory, size_t d) {
  bool relative = false;
  const auto points = curve_of(memory, d, relative);
  const auto shown = thinned(points, kCurvePoints);
  const std::string& device = memory.devices[d];
  Table& table = report.table("curve_" + device, device + " memory over time");
  table.columns = {
      {"time", "Time", Type::kNumber, "ms"},
      {"allocated", relative ? "Allocated since the start" : "Allocated", Type::kNumber, "bytes"}};
  if (!relative) table.columns.push_back({"reserved", "Reserved", Type::kNumber, "bytes"});
  const Point* peak = nullptr;
  for (const Point& point : shown) {
    if (!peak || point.allocated > peak->allocated) peak = &point;
    std::vector<Cell> row{ms(c, point.time_ps), point.allocated};
    if (!relative) row.emplace_back(point.reserved);
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> y{"allocated"};
  if (!relative) y.emplace_back("reserved");
  report.charts.push_back({"curve_" + device, "line", "curve_" + device, "time", y, ""});
  if (peak)
    report.figure("peak_" + device, device + (relative ? " peak since the start" : " peak"),
                  peak->allocated, "bytes");
  if (shown.size() < points.size())
    report.diagnostics.push_back(
        {"info", fmt::format("the curve of {} shows {} of {} points, every peak among them", device,
                             shown.size(), points.size())});
}

// What had been allocated and not yet released when the device held most.
void add_peak(Report& report, const Capture& c, const Memory& memory, size_t d) {
  bool relative = false;
  const auto points = curve_of(memory, d, relative);
  const auto top =
      std::max_element(points.begin(), points.end(),
                       [](const Point& a, const Point& b) { return a.allocated < b.allocated; });
  if (top == points.end()) return;
  std::map<std::string, std::pair<int64_t, int64_t>> live;  // bytes, allocations
  for (const Lifetime& life : memory.lifetimes) {
    if (life.allocation == pytorch::kNone) continue;
    const MemoryRecord& record = memory.records[life.allocation];
    if (record.device != d || record.time_ps > top->time_ps) continue;
    if (life.release != pytorch::kNone && memory.records[life.release].time_ps <= top->time_ps)
      continue;
    auto& entry = live[operator_name(c, record)];
    entry.first += record.bytes;
    ++entry.second;
  }
  if (live.empty()) return;
  Table& table =
      report.table("peak_" + memory.devices[d], "Alive at the peak of " + memory.devices[d]);
  table.columns = {{"operator", "Allocated by", Type::kText, "", "", "torch.operator"},
                   {"bytes", "Size", Type::kNumber, "bytes"},
                   {"allocations", "Allocations"}};
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> order(live.begin(), live.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  for (const auto& [name, entry] : order) table.rows.push_back({name, entry.first, entry.second});
}

void add_stats(Report& report, const Capture& c, const Memory& memory) {
  const auto totals = memory_totals(c, memory);
  Table& table = report.table("operators", "Operators by memory");
  table.columns = {{"device", "Device", Type::kText},
                   {"operator", "Operator", Type::kText, "", "", "torch.operator"},
                   {"calls", "Calls"},
                   {"self_increase", "Self increase", Type::kNumber, "bytes"},
                   {"increase", "Increase", Type::kNumber, "bytes"},
                   {"self_allocated", "Self allocated", Type::kNumber, "bytes"},
                   {"allocated", "Allocated", Type::kNumber, "bytes"},
                   {"self_allocations", "Self allocations"},
                   {"allocations", "Allocations"}};
  for (size_t d = 0; d < totals.size(); ++d) {
    for (const auto& [name, t] : totals[d])
      table.rows.push_back({memory.devices[d], name, t.calls, t.self_increase, t.increase,
                            t.self_allocated, t.allocated, t.self_allocations, t.allocations});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<int64_t>(a[5]) > std::get<int64_t>(b[5]);
  });
}

void add_events(Report& report, const Capture& c, const Memory& memory) {
  Table& table = report.table("events", "Allocations");
  table.columns = {{"device", "Device", Type::kText},
                   {"operator", "Allocated by", Type::kText, "", "", "torch.operator"},
                   {"size", "Size", Type::kNumber, "bytes"},
                   {"allocated_at", "Allocated at", Type::kNumber, "ms"},
                   {"released_at", "Released at", Type::kNumber, "ms"},
                   {"lifetime", "Lived for", Type::kNumber, "ms"}};
  const auto time = [&](const std::optional<int64_t>& ps) {
    return ps ? Cell{ms(c, *ps)} : Cell{};
  };
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    for (const EventRow& row : event_rows(c, memory, d)) {
      const bool whole = row.allocated_ps && row.released_ps;
      table.rows.push_back(
          {memory.devices[d], row.name, row.bytes, time(row.allocated_ps), time(row.released_ps),
           whole ? Cell{static_cast<double>(*row.released_ps - *row.allocated_ps) / 1e9} : Cell{}});
    }
  }
}

// A selection on the curve: ?begin_ms=…&end_ms=… limits every table to it.
Window window_of(const Capture& c, const Options& options) {
  Window window;
  const auto read = [&](std::string_view name, int64_t& out) {
    const std::string_view text = options.parameter(name);
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() &&
        std::abs(value) < 1e9)
      out = c.first_ps + static_cast<int64_t>(value * 1e9);
  };
  read("begin_ms", window.begin);
  read("end_ms", window.end);
  return window;
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  const Capture& c = hosts.front()->pytorch();
  const Memory memory = memory_of(c, window_of(c, options));
  const std::string_view view = options.parameter("view");
  if (!view.empty() && memory.records.empty()) return Report{};
  if (view == "memory_curve") return recorded_curve(c, memory);
  if (view == "memory_stats") return recorded_stats(c, memory);
  if (view == "memory_events") return recorded_events(c, memory);
  Report report;
  if (memory.records.empty()) {
    report.missing.push_back({"memory events", "the capture was taken without them",
                              "torch.profiler.profile(profile_memory=True)"});
    return report;
  }
  const std::string first = default_device(memory);
  std::vector<size_t> order;
  for (size_t d = 0; d < memory.devices.size(); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return (memory.devices[a] == first) > (memory.devices[b] == first);
  });
  // The curve stays whole, so that a selection on it can be seen and changed.
  const Memory all = memory_of(c);
  for (size_t d = 0; d < all.devices.size(); ++d) {
    if (all.devices[d] == first) add_curve(report, c, all, d);
  }
  for (size_t d = 0; d < all.devices.size(); ++d) {
    if (all.devices[d] != first) add_curve(report, c, all, d);
  }
  for (const size_t d : order) add_peak(report, c, memory, d);
  add_stats(report, c, memory);
  add_events(report, c, memory);
  return report;
}

std::string what_is_missing(const Session& session) {
  std::string why = missing_capture(session);
  if (!why.empty()) return why;
  return holds(session, Kind::kMemory) ? "" : "no memory event: profile with profile_memory=True";
}

}  // namespace

extern const Tool kTorchMemory;
const Tool kTorchMemory{"torch.memory", "PyTorch memory", run, what_is_missing};

}  // namespace sonde::capture
