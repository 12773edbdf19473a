// `sonde timeline info` and `view`: what is in a capture, and a look at it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/strings.h"
#include "capture/export/layout.h"
#include "capture/export/steps.h"
#include "cli/serve.h"
#include "cli/timeline/actions.h"
#include "codec/json.h"

namespace sonde::cli::timeline {
namespace {

namespace fs = std::filesystem;

struct Counts {
  uint64_t processes = 0, lanes = 0, counters = 0, points = 0;
};

Counts counts_of(const trace::Trace& trace) {
  Counts counts;
  for (const trace::Track& track : trace.tracks()) {
    if (track.kind == trace::TrackKind::kProcess) ++counts.processes;
    if (track.slices != 0) ++counts.lanes;
    if (track.kind == trace::TrackKind::kCounter) ++counts.counters;
    counts.points += track.points;
  }
  return counts;
}

std::string_view word(trace::Diagnostic::Severity severity) {
  return severity == trace::Diagnostic::Severity::kError     ? "error"
         : severity == trace::Diagnostic::Severity::kWarning ? "warning"
                                                             : "note";
}

std::string when(int64_t ns) {
  constexpr int64_t k2001 = 978'307'200'000'000'000;
  if (ns < k2001) return fmt::format("{} us on the producer's clock", ns / 1000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

std::string next_command(const Sources& sources) {
  const std::string& first = sources.runs[0].source;
  if (sources.runs.size() > 1)
    return fmt::format("sonde timeline merge {} --layout sequence -o merged.json", first);
  if (!sources.runs[0].trace->flows().empty() || !steps_of(sources.runs[0]).empty())
    return fmt::format("sonde timeline stats {} --by step", first);
  return fmt::format("sonde timeline stats {} --by name", first);
}

int print_json(const Sources& sources) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("sources").array([&] {
      for (const Run& run : sources.runs) {
        const Counts counts = counts_of(*run.trace);
        json.object([&] {
          json.key("file").string(run.source);
          json.key("name").string(run.name);
          json.key("format").string(run.trace->format());
          json.key("bytes").number(run.bytes);
          json.key("slices").number(run.trace->slice_count());
          json.key("processes").number(counts.processes);
          json.key("lanes").number(counts.lanes);
          json.key("counters").number(counts.counters);
          json.key("points").number(counts.points);
          json.key("flows").number(static_cast<uint64_t>(run.trace->flows().size()));
          json.key("span_ns").number(run.span_ps() / 1000);
          json.key("steps").number(static_cast<uint64_t>(steps_of(run).size()));
          if (run.clock_ns) json.key("start_ns").number(*run.clock_ns);
          json.key("diagnostics").array([&] {
            for (const trace::Diagnostic& d : run.trace->diagnostics())
              json.string(fmt::format("{}: {}", word(d.severity), d.text));
          });
        });
      }
    });
    json.key("problems").array([&] {
      for (const std::string& problem : sources.problems) json.string(problem);
    });
  });
  fmt::print("{}\n", out);
  return sources.problems.empty() ? 0 : kLosses;
}

// A name that the session finder takes for the capture's format.
std::string link_name(const Run& run, size_t number) {
  const std::string_view format = run.trace->format();
  std::string stem = run.name;
  std::replace(stem.begin(), stem.end(), '/', '_');
  stem = fmt::format("{}_{}", stem.empty() ? "capture" : stem, number);
  if (format == "xplane") return stem + ".xplane.pb";
  return stem + (format == "step_stats" ? ".run_metadata.pb"
                 : format == "kineto"   ? ".pt.trace.json"
                                        : ".trace.json");
}

}  // namespace

int info(const Options& options, const Sources& sources, ThreadPool&) {
  if (options.json) return print_json(sources);
  size_t worst = 0;
  for (const Run& run : sources.runs) {
    const Counts counts = counts_of(*run.trace);
    const size_t steps = steps_of(run).size();
    fmt::print("{}{}\n", run.source, run.stats && !run.name.empty() ? " · " + run.name : "");
    fmt::print("  format     {}{}, {}\n", run.trace->format(),
               run.trace->host().empty() ? "" : fmt::format(" of {}", run.trace->host()),
               human_bytes(run.bytes));
    fmt::print(
        "  holds      {} slices on {} lanes of {} processes, {} flows, {} counters with {} "
        "samples\n",
        human_count(run.trace->slice_count()), counts.lanes, counts.processes,
        human_count(run.trace->flows().size()), counts.counters, human_count(counts.points));
    fmt::print("  spans      {}{}\n", human_time(static_cast<double>(run.span_ps())),
               run.clock_ns ? " from " + when(*run.clock_ns) : "");
    if (steps != 0) fmt::print("  steps      {}\n", steps);
    for (const trace::Diagnostic& d : run.trace->diagnostics()) {
      fmt::print("  {:<10} {}\n", word(d.severity), d.text);
      worst += d.severity != trace::Diagnostic::Severity::kInfo;
    }
  }
  for (const std::string& problem : sources.problems) fmt::print("problem      {}\n", problem);
  fmt::print("next         {}\n", next_command(sources));
  return worst == 0 && sources.problems.empty() ? 0 : kLosses;
}

int view(const Options&, const Sources& sources, ThreadPool&) {
  char name[] = "/tmp/sonde_view_XXXXXX";
  if (!::mkdtemp(name)) return failed("timeline view: no temporary folder could be made");
  const fs::path folder = fs::path(name) / "plugins" / "profile" / "view";
  std::error_code error;
  fs::create_directories(folder, error);
  std::string last;
  for (size_t i = 0; i < sources.runs.size() && !error; ++i) {
    const Run& run = sources.runs[i];
    if (run.source == last) continue;  // several runs of one event file
    last = run.source;
    const bool is_events = run.stats && run.source.find("tfevents") != std::string::npos;
    const fs::path link =
        is_events ? fs::path(name) / fs::path(run.source).filename() : folder / link_name(run, i);
    fs::create_symlink(fs::absolute(run.source), link, error);
  }
  int code = 1;
  if (error) {
    failed("timeline view: the captures could not be linked: " + error.message());
  } else {
    code = serve({"--logdir", name, "--port", "0", "--sidecar", "off"});
  }
  fs::remove_all(name, error);
  return code;
}

}  // namespace sonde::cli::timeline
