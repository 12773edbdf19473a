// `sonde profile PATH`: what a capture says, in the terminal or as JSON, CSV or the neutral shape;
// `--compare A B` sets two captures against each other and fails when the second is slower.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "api/services/captures.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "capture/analysis/analysis.h"
#include "capture/import/session.h"
#include "capture/report/render.h"
#include "capture/report/terminal.h"
#include "capture/report/tool.h"
#include "capture/sql/sql.h"
#include "capture/tools/compare.h"
#include "cli/commands.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp = R"(sonde profile PATH: show where a captured step spends its time

PATH is a capture file, a session folder, or a log directory (its newest session is taken).

  --tool NAME,...    which tools (default overview_page); --tool list names them all
  --host HOST        only this host of the session
  --span N           of a folder where PyTorch's profiler ran several times: which (default: the last)
  --json             the whole report as JSON
  --csv              the report's first table, or the one given with --table, as CSV
  --format F         text, json, csv, neutral (what recorded outputs are compared in) or xprof
  --table ID         for --csv: which table
  --param KEY=VALUE  for tools that take one: module_name, group_by, type, node_name ...
  --sql QUERY        a query over the trace instead of a tool, e.g.
                     "select name, count, dur_ms from names_ms order by dur_ms desc"; docs/sql.md
                     lists tables and views; also with --json and --csv
  --rows N           rows a table in the terminal (default 15)
  --compare A B      compare capture B with A: exit code 0 when B's step is not slower than A's by
                     more than --max-slowdown percent (default 5), 1 when it is, 2 when that
                     cannot be told: a capture cannot be read or has no steps, or the difference is
                     within the noise of its steps (95 % bootstrap interval of the mean step)
)";

constexpr double kMaxSlowdownPercent = 5;

struct Arguments {
  std::vector<std::string> paths;
  std::string tool = "overview_page", format = "text", table, capture;
  std::optional<std::string> sql;
  capture::Options options;
  bool compares = false, help = false;
  std::optional<double> max_slowdown_percent;
  size_t rows = 15;
  uint32_t span = 0;
};

// A whole number of at least 0 that is all of the text.
std::optional<uint32_t> count_in(std::string_view text) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

Result<Arguments> parse(const Args& args) {
  Arguments out;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    std::string_view value;
    bool lacks_value = false;
    const auto takes = [&](std::string_view flag) {
      if (word == flag) {
        lacks_value = i + 1 >= args.size();
        if (!lacks_value) value = args[++i];
        return true;
      }
      if (!word.starts_with(flag) || word.size() <= flag.size() || word[flag.size()] != '=')
        return false;
      value = word.substr(flag.size() + 1);
      return true;
    };
    if (word == "--help" || word == "-h") {
      out.help = true;
    } else if (takes("--tool")) {
      out.tool = value;
    } else if (takes("--format")) {
      out.format = value;
    } else if (takes("--host")) {
      out.options.host = value;
    } else if (takes("--table")) {
      out.table = value;
    } else if (takes("--sql")) {
      out.sql = value;
    } else if (takes("--capture")) {
      out.capture = value;
    } else if (takes("--span") || takes("--rows")) {
      const bool is_rows = word.starts_with("--rows");
      const auto count = count_in(value);
      if (!count && !lacks_value)
        return fail(Code::kInvalid, fmt::format("{} takes a whole number, not '{}'",
                                                is_rows ? "--rows" : "--span", value));
      if (is_rows) {
        out.rows = count.value_or(0);
      } else {
        out.span = count.value_or(0);
      }
    } else if (takes("--max-slowdown") || takes("--max_slowdown")) {
      double& percent = out.max_slowdown_percent.emplace(0);
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
      if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(percent) ||
          percent < 0)
        return fail(
            Code::kInvalid,
            fmt::format("--max-slowdown takes a percentage of at least 0, not '{}'", value));
    } else if (takes("--param")) {
      const size_t equals = value.find('=');
      if (equals == std::string_view::npos) return fail(Code::kInvalid, "--param takes KEY=VALUE");
      out.options.parameters.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (word == "--compare") {
      out.compares = true;
    } else if (word == "--json" || word == "--csv") {
      out.format = word.substr(2);
    } else if (word.starts_with("--")) {
      return fail(Code::kInvalid, fmt::format("unknown flag '{}'", word));
    } else {
      out.paths.emplace_back(word);
    }
    if (lacks_value) return fail(Code::kInvalid, fmt::format("{} takes a value", word));
  }
  if (out.max_slowdown_percent && !out.compares)
    return fail(Code::kInvalid, "--max-slowdown belongs to --compare A B");
  if (out.format != "text" && out.format != "json" && out.format != "csv" &&
      out.format != "neutral" && out.format != "xprof")
    return fail(Code::kInvalid,
                fmt::format("--format is text, json, csv, neutral or xprof, not '{}'", out.format));
  return out;
}

struct Loaded {
  std::string name;
  std::unique_ptr<capture::Session> session;
  std::vector<capture::RecordedFile> recorded;  // of a session without a capture
};

// Nothing at all was recorded. A damaged file says so itself.
bool is_empty(const trace::Session& session) {
  return !session.hosts.empty() &&
         std::all_of(session.hosts.begin(), session.hosts.end(), [](const trace::Host& host) {
           const auto& tracks = host.trace->tracks();
           return host.trace->slice_count() == 0 && host.trace->diagnostics().empty() &&
                  std::all_of(tracks.begin(), tracks.end(),
                              [](const trace::Track& track) { return track.points == 0; });
         });
}

Result<Loaded> load(const std::string& path, ThreadPool& pool, uint32_t span = 0) {
  SONDE_TRY(files, imports::session_at(path, span));
  std::vector<capture::RecordedFile> recorded = api::recorded_results(files);
  if (!recorded.empty())
    return Loaded{files.name, std::make_unique<capture::Session>(trace::Session{}),
                  std::move(recorded)};
  SONDE_TRY(loaded, imports::load_session(files, &pool));
  if (is_empty(loaded))
    return fail(
        Code::kCorrupt,
        path +
            ": the capture is empty: the file was read, and not one event is in it. Capture "
            "again while the program runs steps, and let the profiler stop (and write) "
            "before the program ends");
  return Loaded{files.name, std::make_unique<capture::Session>(std::move(loaded)), {}};
}

size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 110;
}

int print(const capture::Report& report, const Arguments& arguments, const capture::Tool* tool,
          const std::string& name) {
  if (arguments.format == "json") {
    fmt::print("{}\n", capture::to_v1_json(report, SIZE_MAX));
  } else if (arguments.format == "neutral") {
    fmt::print("{}\n", capture::to_neutral(report, arguments.tool,
                                           arguments.capture.empty() ? name : arguments.capture));
  } else if (arguments.format == "xprof" && tool) {
    fmt::print("{}\n", capture::to_xprof(report, *tool));
  } else if (arguments.format == "csv") {
    const capture::Table* table = arguments.table.empty()
                                      ? (report.tables.empty() ? nullptr : &report.tables[0])
                                      : report.find(arguments.table);
    if (!table) return failed("the report has no table '" + arguments.table + "'");
    fmt::print("{}", capture::to_csv(*table));
  } else {
    fmt::print("{}", capture::to_terminal(report, {terminal_width(), arguments.rows, false}));
  }
  return 0;
}

// The query's host: the one given, or the first.
const capture::HostAnalysis* queried_host(const capture::Session& session,
                                          const std::string& name) {
  for (const auto& host : session.analysis().hosts) {
    if (name.empty() || host->host().name == name) return host.get();
  }
  return nullptr;
}

int print_query(const Loaded& loaded, const Arguments& arguments) {
  const std::string& name = arguments.options.host;
  const auto* host = queried_host(*loaded.session, name);
  if (!host)
    return failed(loaded.recorded.empty()
                      ? fmt::format("the session has no host '{}'", name)
                      : "the session holds stored results but no trace to query");
  capture::sql::Limits limits;
  limits.rows = arguments.format == "text" ? std::max<size_t>(1, arguments.rows) : 10'000'000;
  limits.bytes = size_t{2} << 30;
  auto answer = capture::sql::run(*host, *arguments.sql, limits);
  if (!answer) return failed("--sql: " + answer.error().text);
  capture::Report report;
  report.tables.push_back(std::move(answer->table));
  if (!answer->cut.empty()) fmt::print(stderr, "sonde: the answer was cut {}\n", answer->cut);
  if (arguments.format == "text" && report.tables[0].rows.empty()) {
    fmt::print("no rows\n");
    return 0;
  }
  if (arguments.format != "text") return print(report, arguments, nullptr, loaded.name);
  const std::string text = capture::to_terminal(report, {terminal_width(), arguments.rows, false});
  fmt::print("{}", text.substr(std::min(text.find_first_not_of('\n'), text.size())));
  return 0;
}

}  // namespace

int profile_command(const Args& args) {
  auto arguments = parse(args);
  if (!arguments) return failed("profile: " + arguments.error().text, 2);
  if (arguments->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (arguments->tool == "list") {
    for (const capture::Tool* tool : capture::all_tools())
      fmt::print("{:<30} {}\n", tool->id, tool->title);
    return 0;
  }
  ThreadPool pool("import", usable_cores());
  if (arguments->compares) {
    if (arguments->paths.size() != 2) return failed("profile: --compare takes two captures", 2);
    auto before = load(arguments->paths[0], pool), now = load(arguments->paths[1], pool);
    if (!before) return failed(before.error().text, 2);
    if (!now) return failed(now.error().text, 2);
    print(capture::compare(*before->session, *now->session), *arguments, nullptr, now->name);
    const auto slower = capture::slowdown(*before->session, *now->session);
    if (!slower)
      return failed("profile: a capture has no steps, so whether it is slower cannot be told", 2);
    if (100 * slower->share <= arguments->max_slowdown_percent.value_or(kMaxSlowdownPercent))
      return 0;
    if (slower->is_noise())
      return failed(
          fmt::format("profile: {:+.1f}% is within the noise of these steps ({:+.1f} to {:+.1f}%), "
                      "so whether it is slower cannot be told; capture more steps",
                      100 * slower->share, 100 * slower->low, 100 * slower->high),
          2);
    return 1;
  }
  if (arguments->paths.size() != 1)
    return failed("profile: give one path of a capture; see sonde profile --help", 2);
  if (arguments->sql) {
    auto loaded = load(arguments->paths[0], pool, arguments->span);
    if (!loaded) return failed(loaded.error().text);
    return print_query(*loaded, *arguments);
  }
  std::vector<capture::ToolRequest> requests;
  uint32_t span = arguments->span;
  for (const std::string_view name : split(arguments->tool, ',')) {
    requests.push_back(capture::requested_tool(name));
    if (!requests.back().tool)
      return failed(fmt::format("profile: no tool '{}'; --tool list names them", name), 2);
    if (span == 0) span = requests.back().span;
  }
  auto loaded = load(arguments->paths[0], pool, span);
  if (!loaded) return failed(loaded.error().text);
  for (capture::ToolRequest& request : requests) {
    capture::Options options = arguments->options;
    if (options.host.empty()) options.host = request.options.host;
    for (auto& parameter : request.options.parameters)
      options.parameters.push_back(std::move(parameter));
    auto report = loaded->recorded.empty()
                      ? capture::run_tool(*request.tool, *loaded->session, options)
                      : capture::recorded_report(loaded->recorded, request.tool->id, options.host);
    if (!report) return failed(report.error().text);
    if (const int code = print(*report, *arguments, request.tool, loaded->name)) return code;
  }
  return 0;
}

}  // namespace sonde::cli
