#include <fmt/format.h>

#include "base/strings.h"
#include "base/text_table.h"
#include "capture/export/stats.h"
#include "codec/json.h"

namespace sonde::exports {
namespace {

constexpr size_t kTerminalRows = 30;

struct Span {
  size_t rows, all;
};
Span shown(size_t all, const Options& options, size_t otherwise) {
  const size_t most = options.top > 0 ? static_cast<size_t>(options.top) : otherwise;
  return {std::min(all, most), all};
}

std::string time(int64_t ps) { return human_time(static_cast<double>(ps)); }
std::string share(int64_t part, int64_t whole) {
  return whole <= 0 ? "-" : fmt::format("{:.1f}", 100.0 * double(part) / double(whole));
}
std::string remark(const RunTotal& run) {
  return run.facts.is_warmup ? "warm-up" : run.facts.is_outlier ? "outlier" : "";
}

struct StepColumn {
  std::string_view id, title;
  int64_t (*value)(const StepTotal&);
};
int64_t of(const StepTotal& s, Kind kind) { return s.kind[static_cast<size_t>(kind)]; }
constexpr StepColumn kStepColumns[] = {
    {"start", "start", [](const StepTotal& s) { return s.span.begin; }},
    {"duration", "duration", [](const StepTotal& s) { return s.span.end - s.span.begin; }},
    {"kernel", "kernel", [](const StepTotal& s) { return of(s, Kind::kKernel); }},
    {"memcpy", "memcpy", [](const StepTotal& s) { return of(s, Kind::kCopy); }},
    {"memset", "memset", [](const StepTotal& s) { return of(s, Kind::kMemset); }},
    {"communication", "communication", [](const StepTotal& s) { return s.communication; }},
    {"exposed_communication", "exposed", [](const StepTotal& s) { return s.exposed; }},
    {"runtime", "runtime", [](const StepTotal& s) { return of(s, Kind::kRuntime); }},
    {"data_loader", "data loader", [](const StepTotal& s) { return of(s, Kind::kDataLoader); }},
    {"cpu", "CPU", [](const StepTotal& s) { return of(s, Kind::kCpu); }},
    {"other", "other", [](const StepTotal& s) { return of(s, Kind::kMark); }},
    {"idle", "idle", [](const StepTotal& s) { return s.idle; }},
};

int64_t ns(int64_t ps) { return (ps >= 0 ? ps + 500 : ps - 500) / 1000; }

std::string header(std::span<const Run> runs, const Totals& totals, const Options& options) {
  RunTotal all;
  for (const RunTotal& run : totals.runs) {
    if (run.facts.is_warmup && !options.includes_warmup) continue;
    all.slices += run.slices;
    all.host += run.host;
    all.device += run.device;
    all.copies += run.copies;
  }
  std::string out;
  out +=
      fmt::format("{} run{}, {} slices, wall span {}\n", totals.counted_runs,
                  totals.counted_runs == 1 ? "" : "s", human_count(all.slices), time(totals.wall));
  out += fmt::format("busy: host threads {}, device streams {}, copies {}\n", time(all.host),
                     time(all.device), time(all.copies));
  size_t steps = totals.steps.size();
  if (!totals.steps.empty()) out += fmt::format("steps: {}\n", steps);
  if (runs.size() > 1 && totals.runs[0].facts.is_warmup) {
    out += fmt::format(
        "run 0 ({}) is warm-up: {} against {} for the others; {}\n", runs[0].name,
        time(totals.runs[0].span),
        human_time(double(totals.wall - (options.includes_warmup ? totals.runs[0].span : 0)) /
                   double(runs.size() - 1)),
        options.includes_warmup ? "counted because of --include-warmup"
                                : "left out (--include-warmup counts it)");
  }
  size_t damage = 0;
  for (const Run& run : runs) {
    for (const trace::Diagnostic& d : run.trace->diagnostics())
      damage += d.severity != trace::Diagnostic::Severity::kInfo;
  }
  if (damage != 0) out += fmt::format("damage: {} notes; sonde timeline info lists them\n", damage);
  return out;
}

std::string run_table(std::span<const Run> runs, const Totals& totals) {
  Table table({{"run"},
               {"name"},
               {"step", Align::kRight},
               {"span", Align::kRight},
               {"sum of slices", Align::kRight},
               {"slices", Align::kRight},
               {"host busy", Align::kRight},
               {"device busy", Align::kRight},
               {"peak memory", Align::kRight},
               {""}});
  for (size_t r = 0; r < runs.size(); ++r) {
    const RunTotal& run = totals.runs[r];
    table.row({fmt::format("{}", r), runs[r].name,
               runs[r].step ? fmt::format("{}", *runs[r].step) : "", time(run.span),
               time(run.total), human_count(run.slices), time(run.host), time(run.device),
               run.peak_bytes > 0 ? human_bytes(static_cast<uint64_t>(run.peak_bytes)) : "-",
               remark(run)});
  }
  return table.text();
}

}  // namespace

void append_csv_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

std::string stats_text(std::span<const Run> runs, const Totals& totals, const Options& options) {
  std::string out = header(runs, totals, options);
  if (runs.size() > 1) out += "\n" + run_table(runs, totals);
  if (options.by == "step") {
    if (totals.steps.empty()) return out + "\nno steps in these captures\n";
    std::vector<Table::Column> columns{{"step"}};
    for (const StepColumn& column : kStepColumns)
      columns.push_back({std::string(column.title), Align::kRight});
    columns.push_back({"peak memory", Align::kRight});
    Table table(std::move(columns));
    const Span span = shown(totals.steps.size(), options, kTerminalRows);
    for (size_t i = 0; i < span.rows; ++i) {
      const StepTotal& step = totals.steps[i];
      std::vector<std::string> cells{step.span.name};
      for (const StepColumn& column : kStepColumns) cells.push_back(time(column.value(step)));
      cells.push_back(step.peak_bytes > 0 ? human_bytes(static_cast<uint64_t>(step.peak_bytes))
                                          : "-");
      table.row(std::move(cells));
    }
    out += "\n" + table.text();
    if (span.rows < span.all) out += fmt::format("... {} more (--top)\n", span.all - span.rows);
    return out;
  }
  Table table({{options.by},
               {"count", Align::kRight},
               {"total", Align::kRight},
               {"self", Align::kRight},
               {"% of wall", Align::kRight},
               {"mean", Align::kRight},
               {"min", Align::kRight},
               {"p50", Align::kRight},
               {"p95", Align::kRight},
               {"max", Align::kRight},
               {"lanes", Align::kRight},
               {"first", Align::kRight},
               {"last", Align::kRight}});
  const Span span = shown(totals.keys.size(), options, kTerminalRows);
  for (size_t i = 0; i < span.rows; ++i) {
    const KeyTotal& k = totals.keys[i];
    table.row({k.key, human_count(k.count), time(k.total), time(k.self),
               share(k.total, totals.wall), human_time(k.mean()), time(k.least), time(k.p50),
               time(k.p95), time(k.most), fmt::format("{}", k.lanes), time(k.first), time(k.last)});
  }
  out += "\n" + table.text();
  if (span.rows < span.all)
    out += fmt::format("... {} more (--top {})\n", span.all - span.rows, span.all);
  return out;
}

std::string stats_csv(std::span<const Run> runs, const Totals& totals, const Options& options) {
  std::string out;
  if (options.by == "step") {
    out = "run,step";
    for (const StepColumn& column : kStepColumns) out += fmt::format(",{}_ns", column.id);
    out += ",peak_memory_bytes\n";
    const Span span = shown(totals.steps.size(), options, SIZE_MAX);
    for (size_t i = 0; i < span.rows; ++i) {
      const StepTotal& step = totals.steps[i];
      append_csv_cell(out, runs[step.run].name);
      out += ',';
      append_csv_cell(out, step.span.name);
      for (const StepColumn& column : kStepColumns)
        out += fmt::format(",{}", ns(column.value(step)));
      out += fmt::format(",{:.0f}\n", step.peak_bytes);
    }
    return out;
  }
  out =
      "key,count,total_ns,self_ns,percent_of_wall,mean_ns,min_ns,p50_ns,p95_ns,max_ns,lanes,"
      "first_ns,last_ns\n";
  const Span span = shown(totals.keys.size(), options, SIZE_MAX);
  for (size_t i = 0; i < span.rows; ++i) {
    const KeyTotal& k = totals.keys[i];
    append_csv_cell(out, k.key);
    out += fmt::format(
        ",{},{},{},{:.3f},{:.0f},{},{},{},{},{},{},{}\n", k.count, ns(k.total), ns(k.self),
        totals.wall > 0 ? 100.0 * double(k.total) / double(totals.wall) : 0, k.mean() / 1000,
        ns(k.least), ns(k.p50), ns(k.p95), ns(k.most), k.lanes, ns(k.first), ns(k.last));
  }
  return out;
}

std::string stats_json(std::span<const Run> runs, const Totals& totals, const Options& options) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("by").string(options.by);
    json.key("wall_ns").number(ns(totals.wall));
    json.key("counted_runs").number(static_cast<uint64_t>(totals.counted_runs));
    json.key("runs").array([&] {
      for (size_t r = 0; r < runs.size(); ++r) {
        const RunTotal& run = totals.runs[r];
        json.object([&] {
          json.key("name").string(runs[r].name);
          json.key("source").string(runs[r].source);
          if (runs[r].step) json.key("step").number(*runs[r].step);
          json.key("slices").number(run.slices);
          json.key("span_ns").number(ns(run.span));
          json.key("sum_ns").number(ns(run.total));
          json.key("host_busy_ns").number(ns(run.host));
          json.key("device_busy_ns").number(ns(run.device));
          json.key("copies_busy_ns").number(ns(run.copies));
          json.key("peak_memory_bytes").number(run.peak_bytes);
          json.key("warmup").boolean(run.facts.is_warmup);
          json.key("outlier").boolean(run.facts.is_outlier);
        });
      }
    });
    if (options.by == "step") {
      json.key("steps").array([&] {
        const Span span = shown(totals.steps.size(), options, SIZE_MAX);
        for (size_t i = 0; i < span.rows; ++i) {
          const StepTotal& step = totals.steps[i];
          json.object([&] {
            json.key("run").string(runs[step.run].name);
            json.key("step").string(step.span.name);
            for (const StepColumn& column : kStepColumns)
              json.key(std::string(column.id) + "_ns").number(ns(column.value(step)));
            json.key("peak_memory_bytes").number(step.peak_bytes);
          });
        }
      });
      return;
    }
    json.key("rows").array([&] {
      const Span span = shown(totals.keys.size(), options, SIZE_MAX);
      for (size_t i = 0; i < span.rows; ++i) {
        const KeyTotal& k = totals.keys[i];
        json.object([&] {
          json.key("key").string(k.key);
          json.key("count").number(k.count);
          json.key("total_ns").number(ns(k.total));
          json.key("self_ns").number(ns(k.self));
          json.key("mean_ns").number(k.mean() / 1000);
          json.key("min_ns").number(ns(k.least));
          json.key("p50_ns").number(ns(k.p50));
          json.key("p95_ns").number(ns(k.p95));
          json.key("max_ns").number(ns(k.most));
          json.key("lanes").number(k.lanes);
          json.key("first_ns").number(ns(k.first));
          json.key("last_ns").number(ns(k.last));
        });
      }
    });
  });
  return out + "\n";
}

}  // namespace sonde::exports
