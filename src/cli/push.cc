// `sonde push LOGDIR --to clickhouse://…`: a log directory into a team's tables. A point is known by
// project, run, tag and its number in the series, so what is there already is not sent again, and
// what a pusher that died sent twice is one row.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <ctime>
#include <string>

#include "base/regex.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/logdir.h"
#include "io/remote/clickhouse.h"
#include "log/team/pusher.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde push LOGDIR --to clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE\n"
    "\n"
    "Sends runs, series and every scalar point to ClickHouse (its HTTP interface) and makes the\n"
    "tables it needs (docs/warehouse.md). What is there already is not sent again. Images,\n"
    "histograms and texts are sent as references to the files they are in. Read it with\n"
    "sonde --store clickhouse://...\n"
    "\n"
    "  --project NAME                rows of another project are left alone (default: default)\n"
    "  --runs RE, --tags RE          only runs and tags in which the expression is found\n"
    "  --replace                     remove series first that were rewritten since the last push\n"
    "  --follow                      go on with what is written later, until interrupted\n"
    "  --cluster NAME                tables over the nodes of a cluster of ClickHouse\n"
    "  --tables_only                 make the tables and send nothing (once on each node of a\n"
    "                                cluster)\n";

constexpr std::string_view kNoClusterReplace =
    "--replace cannot remove rows from the nodes of a cluster; push to another --project";

struct Options {
  std::string to, project = "default", runs, tags, cluster;
  bool replaces = false, follows = false, only_tables = false;
};

// Waits for a signal to stop; false: the time is over and none came.
bool is_stopped_within(const sigset_t& signals, int seconds) {
  const timespec limit{seconds, 0};
  return sigtimedwait(&signals, nullptr, &limit) > 0;
}

std::string refusal_text(const std::vector<std::string>& refused) {
  return fmt::format(
      "{}{} rewritten since it was pushed; push with --replace to remove the old "
      "points first",
      refused.front(),
      refused.size() == 1 ? " was" : fmt::format(" and {} more were", refused.size() - 1));
}

int run_push(const store::Store& store, const team::Tables& tables, const Options& options,
             team::PushOptions push_options, const sigset_t& signals) {
  team::Pusher pusher(tables, std::move(push_options));
  if (auto asked = pusher.ask_what_is_there(); !asked) return failed(asked.error().text);
  constexpr int kPauseSeconds = 2;
  std::string said;
  for (bool is_last = !options.follows;;) {
    const auto snapshot = store.snapshot();
    const auto pushed = pusher.push(*snapshot, [&](store::FileId file) {
      const auto& state = snapshot->files[static_cast<size_t>(file)];
      return state ? state->path : std::string();
    });
    if (!pushed) {
      // A pusher that follows outlives its server: what was not sent is sent later.
      if (is_last) return failed(pushed.error().text);
      if (said != pushed.error().text)
        fmt::print(stderr, "sonde: {}; trying again\n", pushed.error().text);
    }
    said = pushed ? "" : pushed.error().text;
    if (is_last) {
      uint64_t points = 0;
      for (const auto& run : snapshot->runs) points += run->points;
      fmt::print("sent {} of {} points in {} runs to {}\n", human_count(pusher.sent()),
                 human_count(points), snapshot->runs.size(), options.project);
      break;
    }
    is_last = is_stopped_within(signals, kPauseSeconds);
  }
  return pusher.refused().empty() ? 0 : failed(refusal_text(pusher.refused()));
}

}  // namespace

int push_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}{}", kHelp, kLogdirHelp);
    return 0;
  }
  LogdirFlags logdir;
  Options options;
  Flags flags("sonde push");
  logdir.declare(flags);
  flags.text("to", options.to);
  flags.text("project", options.project);
  flags.text("runs", options.runs);
  flags.text("tags", options.tags);
  flags.text("cluster", options.cluster);
  flags.on("replace", options.replaces);
  flags.on("follow", options.follows);
  flags.on("tables_only", options.only_tables);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  const auto server = io::ClickHouse::parse(options.to);
  if (!server) return failed("--to: " + server.error().text, 2);
  if (options.replaces && !options.cluster.empty()) return failed(kNoClusterReplace, 2);
  const auto runs = Regex::compile(options.runs), tags = Regex::compile(options.tags);
  if (!runs) return failed("--runs: " + runs.error().text, 2);
  if (!tags) return failed("--tags: " + tags.error().text, 2);
  const team::Tables tables(*server, options.project);
  if (auto made = tables.make(options.cluster); !made) return failed(made.error().text);
  if (options.only_tables) return 0;
  // Before the store's threads start: none of them may take the signal that ends a follower.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&signals, signal);
  if (options.follows) pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  logdir.follow = options.follows;
  const auto store = open_logdir(logdir);
  if (!store) return failed(store.error().text, store.error().code == Code::kInvalid ? 2 : 1);
  return run_push(
      **store, tables, options,
      {options.replaces,
       [&](const std::string& run) { return options.runs.empty() || runs->found_in(run); },
       [&](const std::string& tag) { return options.tags.empty() || tags->found_in(tag); }},
      signals);
}

}  // namespace sonde::cli
