// `sonde timeline`: convert, merge, compare and summarise captures of every format.
#include <fmt/core.h>

#include <algorithm>

#include "capture/export/chrome_writer.h"
#include "capture/export/diff.h"
#include "capture/export/perfetto_writer.h"
#include "capture/export/table_writer.h"
#include "capture/export/tf_writer.h"
#include "capture/import/registry.h"
#include "cli/commands.h"
#include "cli/timeline/actions.h"
#include "cli/timeline/help.h"

namespace sonde::cli {
namespace timeline {
namespace {

int report_losses(const Sources& sources, const std::vector<std::string>& losses) {
  for (const std::string& problem : sources.problems) fmt::print(stderr, "sonde: {}\n", problem);
  uint64_t damaged = 0;
  for (const Run& run : sources.runs) {
    for (const trace::Diagnostic& diagnostic : run.trace->diagnostics()) {
      if (diagnostic.severity == trace::Diagnostic::Severity::kInfo) continue;
      fmt::print(stderr, "sonde: {}: {}\n", run.source, diagnostic.text);
      ++damaged;
    }
  }
  for (const std::string& loss : losses) fmt::print(stderr, "sonde: left out: {}\n", loss);
  return sources.problems.empty() && damaged == 0 && losses.empty() ? 0 : kLosses;
}

Result<io::TextOut> open_out(const Options& options) {
  return io::TextOut::open(
      options.out, options.gzip ? io::TextOut::Packing::kGzip : io::TextOut::Packing::kPlain);
}

int write_as_tensorflow(const Sources& sources, const Options& options) {
  for (const Run& run : sources.runs) {
    if (!run.stats)
      return failed(fmt::format("timeline: --compat tf converts TensorFlow run metadata; {} is {}",
                                run.source, run.trace->format()),
                    kUsage);
  }
  auto out = open_out(options);
  if (!out) return failed(out.error().text);
  write_tf(sources.runs, {!options.hides_dataflow, options.shows_memory}, *out);
  if (auto done = out->finish(); !done) return failed(done.error().text);
  for (const Run& run : sources.runs) {
    const auto whole = run.content ? run.content->check_whole(run.source) : Result<void>();
    if (!whole) return failed(whole.error().text);
  }
  return report_losses(sources, {});
}

// Reads what was written and compares; the sum may differ by the rounding of each slice.
Result<void> verify(const Options& options, const Written& written, ThreadPool& pool) {
  if (options.out == "-" || (options.to != "chrome" && options.to != "perfetto"))
    return fail(Code::kInvalid, "--verify reads Chrome and Perfetto files, not this output");
  SONDE_TRY(content, io::read_content(options.out));
  SONDE_TRY(trace, imports::import_trace({options.out, content.bytes(), &pool}));
  if (auto whole = content.check_whole(options.out); !whole) return fail(std::move(whole).error());
  uint64_t slices = 0, total_ps = 0;
  for (uint32_t s = 0; s < trace.slice_count(); ++s) {
    ++slices;
    total_ps += static_cast<uint64_t>(trace.duration(s).value);
  }
  const auto away = static_cast<int64_t>(total_ps - written.total_ps);
  if (slices != written.slices + written.instants ||
      std::abs(away) > static_cast<int64_t>(slices) * 1000)
    return fail(Code::kCorrupt,
                fmt::format("{}: verification failed: {} slices and {} ps written, {} and {} read",
                            options.out, written.slices + written.instants, written.total_ps,
                            slices, total_ps));
  return {};
}

int draw(const Sources& sources, const Drawing& drawing, ThreadPool& pool) {
  const Options& options = *drawing.options;
  auto out = open_out(options);
  if (!out) return failed(out.error().text);
  const Written written = options.to == "perfetto" ? write_perfetto(drawing, *out)
                          : options.to == "csv"    ? write_csv(drawing, *out)
                          : options.to == "folded" ? write_folded(drawing, *out)
                                                   : write_chrome(drawing, *out);
  if (auto done = out->finish(); !done) return failed(done.error().text);
  if (options.verifies) {
    if (auto verified = verify(options, written, pool); !verified)
      return failed(verified.error().text);
    fmt::print(stderr, "verified: {} slices\n", written.slices);
  }
  return report_losses(sources, written.losses);
}

enum class Runs : uint8_t { kTogether, kSeparated };

Result<Drawing> drawing_of(const Sources& sources, const Options& options, Runs runs) {
  Drawing drawing;
  drawing.runs = sources.runs;
  drawing.options = &options;
  drawing.separates_runs = runs == Runs::kSeparated;
  SONDE_TRY(filter, Filter::parse(options.filter));
  drawing.filter = std::move(filter);
  SONDE_TRY(axis, place(sources.runs, options));
  drawing.axis = std::move(axis);
  // Times of a merge begin at 0, those of a conversion stay as recorded, unless told otherwise.
  if (runs == Runs::kSeparated ? !options.is_absolute : options.rebases) drawing.axis.base_ns = 0;
  return drawing;
}

int convert(const Options& options, const Sources& sources, ThreadPool& pool) {
  if (options.is_compat()) return write_as_tensorflow(sources, options);
  auto drawing = drawing_of(sources, options, Runs::kTogether);
  if (!drawing) return failed("timeline: " + drawing.error().text, kUsage);
  return draw(sources, *drawing, pool);
}

int merge(const Options& options, const Sources& sources, ThreadPool& pool) {
  if (options.is_compat()) return write_as_tensorflow(sources, options);
  auto drawing = drawing_of(sources, options, Runs::kSeparated);
  if (!drawing) return failed("timeline: " + drawing.error().text, kUsage);
  return draw(sources, *drawing, pool);
}

Result<Window> window_of(const Options& options, const Run& run) {
  Window window;
  const int64_t zero = run.begin().value;
  if (!options.from.empty()) {
    SONDE_TRY(from, parse_time_ps(options.from));
    window.begin = zero + from;
  }
  if (!options.until.empty()) {
    SONDE_TRY(until, parse_time_ps(options.until));
    window.end = zero + until;
  }
  if (!options.step.empty()) {
    SONDE_TRY(filter, Filter::parse("step=" + options.step));
    const size_t dots = options.step.find("..");
    const int64_t first = std::atoll(options.step.c_str());
    const int64_t last =
        dots == std::string::npos ? first : std::atoll(options.step.c_str() + dots + 2);
    window = {INT64_MAX, INT64_MIN};
    for (const StepSpan& step : steps_of(run)) {
      if (step.number < first || step.number > last) continue;
      window.begin = std::min(window.begin, step.begin);
      window.end = std::max(window.end, step.end);
    }
    if (window.begin > window.end)
      return fail(Code::kNotFound, fmt::format("{} has no step {}", run.source, options.step));
  }
  if (!options.around.empty()) {
    trace::SliceId found = trace::kNone;
    for (trace::SliceId s = 0; s < run.trace->slice_count(); ++s) {
      const bool matches = run.trace->name(s).find(options.around) != std::string_view::npos;
      if (matches && (found == trace::kNone || run.trace->begin(s) < run.trace->begin(found)))
        found = s;
    }
    if (found == trace::kNone)
      return fail(Code::kNotFound,
                  fmt::format("{} has no slice called '{}'", run.source, options.around));
    const int64_t length = std::max<int64_t>(run.trace->duration(found).value, 1);
    window = {run.trace->begin(found).value - length, run.trace->end(found).value + length};
  }
  return window;
}

int cut(const Options& options, const Sources& sources, ThreadPool& pool) {
  if (sources.runs.size() != 1)
    return failed(fmt::format("timeline cut takes one capture, not {}", sources.runs.size()),
                  kUsage);
  const int ways = !options.from.empty() + !options.step.empty() + !options.around.empty();
  if (ways > 1 || (ways == 0 && options.until.empty()))
    return failed("timeline cut: give --from and --to, or --step, or --around", kUsage);
  auto drawing = drawing_of(sources, options, Runs::kTogether);
  if (!drawing) return failed("timeline: " + drawing.error().text, kUsage);
  auto window = window_of(options, sources.runs[0]);
  if (!window) return failed("timeline: " + window.error().text, kUsage);
  // The window is on the run's own axis.
  const int64_t offset = drawing->axis.places[0].offset_ps;
  drawing->window.begin = window->begin == INT64_MIN ? INT64_MIN : window->begin + offset;
  drawing->window.end = window->end == INT64_MAX ? INT64_MAX : window->end + offset;
  return draw(sources, *drawing, pool);
}

int stats(const Options& options, const Sources& sources, ThreadPool&) {
  auto filter = Filter::parse(options.filter);
  if (!filter) return failed("timeline: " + filter.error().text, kUsage);
  Question question;
  question.by = options.by;
  question.includes_warmup = options.includes_warmup;
  question.counts_steps = !options.csv && !options.json;
  const Totals totals = add_up(sources.runs, *filter, question);
  fmt::print("{}", options.json  ? stats_json(sources.runs, totals, options)
                   : options.csv ? stats_csv(sources.runs, totals, options)
                                 : stats_text(sources.runs, totals, options));
  return report_losses(sources, {});
}

int draw_both(const Options& options, const Sources& a, const Sources& b, ThreadPool& pool) {
  Sources both = a;
  both.runs.insert(both.runs.end(), b.runs.begin(), b.runs.end());
  Options as_stack = options;
  as_stack.layout = "stack";
  auto drawing = drawing_of(both, as_stack, Runs::kSeparated);
  if (!drawing) return failed("timeline: " + drawing.error().text, kUsage);
  for (size_t r = 0; r < both.runs.size(); ++r) {
    const auto steps = steps_of(both.runs[r]);
    if (!steps.empty()) drawing->axis.places[r].offset_ps = -steps.front().begin;
  }
  return draw(both, *drawing, pool);
}

int diff(const Options& options, const Sources&, ThreadPool& pool) {
  if (options.inputs.size() != 2) return failed("timeline diff takes two captures", kUsage);
  auto filter = Filter::parse(options.filter);
  if (!filter) return failed("timeline: " + filter.error().text, kUsage);
  Options one = options;
  one.inputs = {options.inputs[0]};
  auto a = load(one, pool);
  if (!a) return failed(a.error().text);
  one.inputs = {options.inputs[1]};
  auto b = load(one, pool);
  if (!b) return failed(b.error().text);
  Question question;
  question.by = options.match == "stack"    ? "stack"
                : options.match == "module" ? "module"
                                            : options.by;
  question.includes_warmup = options.includes_warmup;
  question.normalises_names = true;
  question.counts_steps = true;
  const Comparison comparison =
      compare(add_up(a->runs, *filter, question), add_up(b->runs, *filter, question));
  if (options.out.empty() || options.json || options.csv) {
    fmt::print("{}", options.json  ? diff_json(comparison, options)
                     : options.csv ? diff_csv(comparison, options)
                                   : diff_text(comparison, options));
  } else {
    fmt::print("{}\n", comparison.summary());
  }
  int code = 0;
  if (!options.out.empty()) code = draw_both(options, *a, *b, pool);
  if (options.fail_above_percent >= 0 && comparison.percent() > options.fail_above_percent)
    return kSlower;
  return code;
}

struct Action {
  std::string_view name;
  int (*run)(const Options&, const Sources&, ThreadPool&);
};
constexpr Action kActions[] = {
    {"convert", convert}, {"merge", merge}, {"stats", stats}, {"diff", diff},
    {"info", info},       {"cut", cut},     {"view", view},
};

}  // namespace
}  // namespace timeline

int timeline_command(const Args& args) {
  using namespace timeline;
  if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    fmt::print("{}", help(args.size() > 1 ? args[1] : ""));
    return args.empty() ? kUsage : 0;
  }
  const auto action = std::ranges::find(kActions, args[0], &Action::name);
  if (action == std::end(kActions))
    return failed(
        fmt::format("timeline: no command '{}'; sonde timeline --help lists them", args[0]),
        kUsage);
  auto options = parse(action->name, {args.begin() + 1, args.end()});
  if (!options) return failed(options.error().text, kUsage);
  if (options->help) {
    fmt::print("{}", help(action->name));
    return 0;
  }
  ThreadPool pool("import", usable_cores());
  if (action->name == "diff") return diff(*options, {}, pool);
  auto sources = load(*options, pool);
  if (!sources)
    return failed(sources.error().text,
                  sources.error().code == Code::kInvalid ? kUsage : kUnreadable);
  return action->run(*options, *sources, pool);
}

}  // namespace sonde::cli
