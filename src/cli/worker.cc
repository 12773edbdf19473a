// `sonde worker CAPTURE… --out DIR`: what is left of a trace for comparing thousands of ranks, as
// Parquet: steps with their parts, sums by name, collectives with their times, memory, findings. Each capture gives
// files of its own, written whole and renamed, and the same bytes each time: whoever schedules the
// work (Spark, Slurm, a loop in a shell) may run it twice or kill it half-way.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/sha256.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "capture/import/session.h"
#include "capture/report/tool.h"
#include "capture/sql/sql.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/logdir.h"
#include "io/scan.h"
#include "table/parquet.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde worker CAPTURE... --out DIR\n"
    "\n"
    "Turns captures into Parquet files that can be merged over thousands of ranks "
    "(docs/scale.md):\n"
    "DIR/steps, ops, collectives, memory, findings and captures, one file a capture and host in\n"
    "each. CAPTURE may be in a store (s3://...). Serve a folder above DIR to see rank x step, or\n"
    "ask the files in DuckDB, Spark or ClickHouse.\n"
    "\n"
    "  --out DIR          where to; made when it is not there\n"
    "  --rank NAME        what the rows call the capture (default: its path); for one capture\n";

struct Digest {
  std::string_view folder, query;
};
// Times are whole picoseconds, as in docs/sql.md.
constexpr Digest kDigests[] = {
    {"steps",
     "select id, name, ts, dur, device_compute, device_to_device, collectives, host_compute, "
     "launch, input, output, compile, other from steps order by ts, id"},
    {"ops",
     "select name, category, count, dur, self, min_dur, max_dur from names order by name, "
     "category"},
    {"collectives",
     "select name, category, track, ts, dur from slices where name regexp "
     "'(?i)nccl|all.?reduce|all.?gather|reduce.?scatter|all.?to.?all|collective.?permute' "
     "order by ts, track, name"},
    {"memory",
     "select name, count(*) as points, min(value) as least, max(value) as most from counters where "
     "name regexp '(?i)memory|bytes|alloc|reserved' group by name order by name"},
};

// Rules that fired, as one table for all of the capture's hosts.
capture::Table findings_of(const capture::Session& session) {
  capture::Table table;
  const auto text = [](const char* name) {
    return capture::Column{name, name, capture::Type::kText, ""};
  };
  table.columns = {text("finding"), text("text"), text("action"),
                   capture::Column{"gain", "gain", capture::Type::kNumber, "ps"}};
  const capture::Tool* overview = capture::find_tool("overview_page");
  const auto report =
      overview ? capture::run_tool(*overview, session, {}) : fail(Code::kNotFound, "no overview");
  if (!report) return table;
  for (const capture::Finding& finding : report->findings) {
    if (!finding.fired) continue;
    std::vector<capture::Cell>& row = table.rows.emplace_back();
    row.emplace_back(finding.id);
    row.emplace_back(finding.text);
    row.emplace_back(finding.action);
    if (finding.gain_ps) {
      row.emplace_back(*finding.gain_ps);
    } else {
      row.emplace_back();
    }
  }
  return table;
}

// Where the whole trace is, for whoever wants to look at one rank.
capture::Table place_of(const std::string& capture) {
  capture::Table table;
  table.columns = {capture::Column{"capture", "capture", capture::Type::kText, ""}};
  table.rows.emplace_back().emplace_back(to_utf8(io::absolute_path(capture)));
  return table;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// The kinds of columns are the same in every file, also in one without rows: readers that merge
// thousands of files take the first one's for all.
bool is_always_text(std::string_view column) { return column == "name" || column == "category"; }
bool is_always_real(std::string_view column) { return column == "least" || column == "most"; }

// A column of the answer; one that holds any text is text.
void add_column(const capture::Table& answer, size_t index, std::vector<table::Column>& columns,
                table::Batch& batch) {
  bool is_text = answer.columns[index].type == capture::Type::kText ||
                 is_always_text(answer.columns[index].id);
  bool is_real = is_always_real(answer.columns[index].id);
  for (const auto& row : answer.rows) {
    is_text = is_text || std::holds_alternative<std::string>(row[index]);
    is_real = is_real || std::holds_alternative<double>(row[index]);
  }
  const auto kind = is_text   ? table::Kind::kText
                    : is_real ? table::Kind::kDouble
                              : table::Kind::kInt64;
  columns.push_back({answer.columns[index].id, kind, true, {}});
  table::Values& values = batch.columns.emplace_back();
  for (const auto& row : answer.rows) {
    const capture::Cell& cell = row[index];
    values.is_there.push_back(std::holds_alternative<std::monostate>(cell) ? 0 : 1);
    const int64_t* integer = std::get_if<int64_t>(&cell);
    const double* real = std::get_if<double>(&cell);
    const std::string* text = std::get_if<std::string>(&cell);
    if (kind == table::Kind::kText) {
      values.texts.push_back(text      ? to_utf8(*text)
                             : integer ? std::to_string(*integer)
                             : real    ? fmt::format("{}", *real)
                                       : "");
    } else if (kind == table::Kind::kDouble) {
      values.reals.push_back(real ? *real : integer ? static_cast<double>(*integer) : 0);
    } else {
      values.integers.push_back(integer ? *integer : 0);
    }
  }
}

Result<void> write_digest(const std::string& path, const std::string& rank, const std::string& host,
                          const capture::Table& answer) {
  std::vector<table::Column> columns = {{"rank", table::Kind::kWord, false, {rank}},
                                        {"host", table::Kind::kWord, false, {host}}};
  table::Batch batch{answer.rows.size(), std::vector<table::Values>(2)};
  for (table::Values& values : batch.columns) values.indices.resize(batch.rows, 0);
  for (size_t i = 0; i < answer.columns.size(); ++i) add_column(answer, i, columns, batch);

  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string temporary = path + ".new." + std::to_string(::getpid());
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(temporary.c_str(), "wb"));
  if (!file) return fail(Code::kIo, "cannot write " + temporary);
  const auto writer = table::parquet_writer(std::move(columns), [&](std::string_view bytes) {
    return std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  });
  Result<void> written = writer->add(batch);
  if (written) written = writer->finish();
  const bool is_flushed = std::fflush(file.get()) == 0;
  file.reset();
  if (!written || !is_flushed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return fail(Code::kIo, "cannot write " + path);
  }
  return {};
}

Result<size_t> digest_capture(const std::string& capture, const std::string& rank,
                              const std::string& out, ThreadPool& pool) {
  SONDE_TRY(files, imports::session_at(capture, 0));
  SONDE_TRY(loaded, imports::load_session(files, &pool));
  const capture::Session session(std::move(loaded));
  const std::string name = sha256_hex(io::absolute_path(capture)).substr(0, 16);
  capture::sql::Limits limits;
  limits.rows = 100'000'000;
  limits.bytes = size_t{4} << 30;
  size_t index = 0;
  for (const auto& host : session.analysis().hosts) {
    for (const Digest& digest : kDigests) {
      SONDE_TRY(const answer, capture::sql::run(*host, digest.query, limits));
      if (!answer.cut.empty())
        return fail(Code::kTooLarge, capture + ": too many " + std::string(digest.folder));
      const auto path = fmt::format("{}/{}/{}_{}.parquet", out, digest.folder, name, index);
      if (auto done = write_digest(path, rank, host->host().name, answer.table); !done)
        return fail(done.error());
    }
    const std::pair<std::string_view, capture::Table> others[] = {
        {"findings", index == 0 ? findings_of(session) : capture::Table{}},
        {"captures", place_of(capture)}};
    for (const auto& [folder, table] : others) {
      if (table.columns.empty()) continue;  // findings are about the capture as a whole
      const auto path = fmt::format("{}/{}/{}_{}.parquet", out, folder, name, index);
      if (auto done = write_digest(path, rank, host->host().name, table); !done)
        return fail(done.error());
    }
    ++index;
  }
  return index;
}

}  // namespace

int worker_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}", kHelp);
    return 0;
  }
  std::vector<std::string> captures;
  std::string out, rank;
  Flags flags("sonde worker");
  flags.rest("capture", captures);
  flags.text("out", out);
  flags.text("rank", rank);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  if (captures.empty() || out.empty()) return failed("worker: give captures and --out DIR", 2);
  if (!rank.empty() && captures.size() > 1) return failed("worker: --rank names one capture", 2);
  ThreadPool pool("import", usable_cores());
  size_t hosts = 0, bad = 0;
  for (const std::string& capture : captures) {
    const auto done = digest_capture(capture, rank.empty() ? to_utf8(capture) : rank, out, pool);
    if (!done) {
      failed(capture + ": " + done.error().text);  // one bad capture loses nothing else
      ++bad;
      continue;
    }
    hosts += *done;
  }
  fmt::print("{} hosts of {} captures in {}\n", hosts, captures.size() - bad, out);
  return bad == 0 ? 0 : 1;
}

}  // namespace sonde::cli
