// `sonde push LOGDIR --to clickhouse://…`: every scalar point of a log directory into a team's
// tables. A point is known by project, run, tag and its number in the series, so what is there
// already is not sent again, and what a pusher that died sent twice is one row.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "base/regex.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/logdir.h"
#include "io/remote/clickhouse.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde push LOGDIR --to clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE\n"
    "\n"
    "Sends every scalar point to ClickHouse (its HTTP interface) and makes the tables it needs:\n"
    "points, last, runs (docs/warehouse.md). Points that are there already are not sent again.\n"
    "\n"
    "  --project NAME                rows of another project are left alone (default: default)\n"
    "  --runs RE, --tags RE          only runs and tags in which the expression is found\n"
    "  --replace                     remove series first that were rewritten since the last push\n";

constexpr size_t kBatchBytes = size_t{32} << 20;

struct Options {
  std::string to, project = "default", runs, tags;
  bool replaces = false;
};

// What the table holds of one series.
struct Pushed {
  uint64_t count = 0, last = 0;  // distinct numbers, and the largest
  Step step = 0;                 // of the last
  double wall_time = 0;
};
using Key = std::pair<std::string, std::string>;  // run, tag

template <class T>
T number_of(const std::string& text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class Pusher {
 public:
  Pusher(const io::ClickHouse& server, const Options& options)
      : server_(server),
        options_(options),
        where_(" WHERE project = " + io::quoted_sql(options.project)) {}

  // The dialect is that of every version since 18.
  Result<void> make_tables() {
    const std::string db = server_.database;
    for (const std::string& statement : {
             "CREATE DATABASE IF NOT EXISTS " + db,
             "CREATE TABLE IF NOT EXISTS " + db +
                 ".points (project String, run String, tag String, n UInt64, step Int64, wall_time "
                 "Float64, value Float64) ENGINE = ReplacingMergeTree() PARTITION BY project ORDER "
                 "BY (project, tag, run, n)",
             "CREATE TABLE IF NOT EXISTS " + db +
                 ".last (project String, run String, tag String, value AggregateFunction(argMax, "
                 "Float64, UInt64), step AggregateFunction(argMax, Int64, UInt64)) ENGINE = "
                 "AggregatingMergeTree() PARTITION BY project ORDER BY (project, tag, run)",
             "CREATE MATERIALIZED VIEW IF NOT EXISTS " + db + ".last_feed TO " + db +
                 ".last AS SELECT project, run, tag, argMaxState(value, n) AS value, "
                 "argMaxState(step, n) AS step FROM " +
                 db + ".points GROUP BY project, run, tag",
             "CREATE TABLE IF NOT EXISTS " + db +
                 ".runs (project String, run String, folder String, started Float64, ended "
                 "Float64, "
                 "points UInt64, tags UInt64) ENGINE = ReplacingMergeTree(points) PARTITION BY "
                 "project ORDER BY (project, run)",
         }) {
      if (auto made = server_.run(statement); !made) return fail(made.error());
    }
    return {};
  }

  Result<void> ask_what_is_there() {
    SONDE_TRY(const text,
              server_.run("SELECT run, tag, uniqExact(n), max(n), argMax(step, n), "
                          "argMax(wall_time, n) FROM " +
                          table("points") + where_ + " GROUP BY run, tag FORMAT TabSeparated"));
    for (const auto& row : io::tab_separated(text)) {
      if (row.size() != 6) return fail(Code::kCorrupt, "ClickHouse's answer is not understood");
      pushed_[{row[0], row[1]}] = {number_of<uint64_t>(row[2]), number_of<uint64_t>(row[3]),
                                   number_of<Step>(row[4]), number_of<double>(row[5])};
    }
    return {};
  }

  Result<void> push(const store::RunSnapshot& run, const store::Series& series) {
    const auto found = pushed_.find({run.name, series.tag()});
    uint64_t from = 0;
    if (found != pushed_.end()) {
      const Pushed& there = found->second;
      // A gap was left by a pusher that died: what is behind it is sent again.
      from = there.count == there.last + 1 ? there.count : 0;
      if (!is_continued(series, there)) {
        if (!options_.replaces) {
          return fail(Code::kConflict,
                      fmt::format("run '{}', tag '{}' was rewritten since it was pushed; push with "
                                  "--replace to remove the old points first",
                                  run.name, series.tag()));
        }
        if (auto removed = remove(run.name, series.tag()); !removed) return removed;
        from = 0;
      }
    }
    uint64_t n = 0;
    Result<void> state;
    for (const store::Range range : series.ranges(store::View::kNewest)) {
      if (n + (range.end - range.begin) <= from) {
        n += range.end - range.begin;
        continue;
      }
      const uint64_t skipped = from > n ? from - n : 0;
      n += skipped;
      series.blocks({range.begin + skipped, range.end}, [&](const store::ScalarBlock& block) {
        for (size_t i = 0; i < block.size() && state; ++i, ++n) {
          for (const std::string_view text :
               {std::string_view(options_.project), std::string_view(run.name),
                std::string_view(series.tag())})
            io::put_string(rows_, text);
          io::put_number(rows_, n);
          io::put_number(rows_, static_cast<int64_t>(block.steps[i]));
          io::put_number(rows_, block.wall_times[i]);
          io::put_number(rows_, block.value(i));
          ++sent_;
          if (rows_.size() >= kBatchBytes) state = flush();
        }
      });
    }
    return state;
  }

  Result<void> flush() {
    if (rows_.empty()) return {};
    if (auto done = server_.run("INSERT INTO " + table("points") + " FORMAT RowBinary", rows_);
        !done)
      return fail(done.error());
    rows_.clear();
    return {};
  }

  Result<void> describe(const store::Snapshot& snapshot,
                        const std::function<bool(const std::string&)>& wants_run) {
    std::string rows;
    for (const auto& run : snapshot.runs) {
      if (!wants_run(run->name)) continue;
      io::put_string(rows, options_.project);
      io::put_string(rows, run->name);
      io::put_string(rows, run->folder);
      io::put_number(rows, run->min_wall_time);
      io::put_number(rows, run->last_wall_time);
      io::put_number(rows, run->points);
      io::put_number(rows, static_cast<uint64_t>(run->series.size()));
    }
    if (rows.empty()) return {};
    if (auto done = server_.run("INSERT INTO " + table("runs") + " FORMAT RowBinary", rows); !done)
      return fail(done.error());
    return {};
  }

  uint64_t sent() const { return sent_; }

 private:
  std::string table(std::string_view name) const {
    return server_.database + "." + std::string(name);
  }

  // Whether the last point that is there is the one this series has at its place.
  static bool is_continued(const store::Series& series, const Pushed& there) {
    uint64_t n = 0;
    bool is_same = false;
    for (const store::Range range : series.ranges(store::View::kNewest)) {
      const uint64_t size = range.end - range.begin;
      if (there.last >= n && there.last < n + size) {
        const uint64_t at = range.begin + there.last - n;
        series.blocks({at, at + 1}, [&](const store::ScalarBlock& block) {
          is_same = block.steps[0] == there.step &&
                    std::abs(block.wall_times[0] - there.wall_time) <= 1e-3;
        });
      }
      n += size;
    }
    return is_same;
  }

  Result<void> remove(const std::string& run, const std::string& tag) {
    const std::string which =
        where_ + " AND run = " + io::quoted_sql(run) + " AND tag = " + io::quoted_sql(tag);
    for (const char* name : {"points", "last"}) {
      if (auto done = server_.run("ALTER TABLE " + table(name) + " DELETE" + which); !done)
        return fail(done.error());
    }
    // Removal goes on behind the answer: what is sent now must not be taken for the old.
    for (int look = 0; look < 600; ++look) {
      SONDE_TRY(const left, server_.run("SELECT count() FROM " + table("points") + which));
      if (trimmed(left) == "0") return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return fail(Code::kBusy, "ClickHouse has not removed the old points within a minute");
  }

  const io::ClickHouse& server_;
  const Options& options_;
  const std::string where_;
  std::map<Key, Pushed> pushed_;
  std::string rows_;
  uint64_t sent_ = 0;
};

Result<uint64_t> push_all(const store::Snapshot& snapshot, const io::ClickHouse& server,
                          const Options& options,
                          const std::function<bool(const std::string&)>& wants_run,
                          const std::function<bool(const std::string&)>& wants_tag) {
  Pusher pusher(server, options);
  if (auto made = pusher.make_tables(); !made) return fail(made.error());
  if (auto asked = pusher.ask_what_is_there(); !asked) return fail(asked.error());
  for (const auto& run : snapshot.runs) {
    if (!wants_run(run->name)) continue;
    for (const auto& series : run->series) {
      if (!series->is_scalar() || !wants_tag(series->tag())) continue;
      if (auto done = pusher.push(*run, *series); !done) return fail(done.error());
    }
  }
  if (auto done = pusher.flush(); !done) return fail(done.error());
  if (auto done = pusher.describe(snapshot, wants_run); !done) return fail(done.error());
  return pusher.sent();
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
  flags.on("replace", options.replaces);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  const auto server = io::ClickHouse::parse(options.to);
  if (!server) return failed("--to: " + server.error().text, 2);
  const auto runs = Regex::compile(options.runs), tags = Regex::compile(options.tags);
  if (!runs) return failed("--runs: " + runs.error().text, 2);
  if (!tags) return failed("--tags: " + tags.error().text, 2);
  const auto store = open_logdir(logdir);
  if (!store) return failed(store.error().text, store.error().code == Code::kInvalid ? 2 : 1);
  const auto snapshot = (*store)->snapshot();
  const auto sent = push_all(
      *snapshot, *server, options,
      [&](const std::string& run) { return options.runs.empty() || runs->found_in(run); },
      [&](const std::string& tag) { return options.tags.empty() || tags->found_in(tag); });
  if (!sent) return failed(sent.error().text);
  uint64_t points = 0;
  for (const auto& run : snapshot->runs) points += run->points;
  fmt::print("sent {} of {} points in {} runs to {}\n", human_count(*sent), human_count(points),
             snapshot->runs.size(), server->database);
  return 0;
}

}  // namespace sonde::cli
