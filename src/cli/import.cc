// `sonde import SOURCE LOGDIR`: event files of what other trackers wrote, for TensorBoard or to keep
// when the other tracker's files go. Sonde itself reads SOURCE as it is (docs/trackers.md).
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/logdir.h"
#include "io/confine.h"
#include "io/other_files.h"
#include "log/trackers/tracker_runs.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHelp =
    R"(sonde import SOURCE LOGDIR: write event files of what other trackers left

SOURCE is a file or a folder that is searched: wandb (.wandb of offline runs), MLflow (mlruns,
SQLite), Trackio, Optuna, CSV loggers, JSON lines, trainer_state.json. Each run becomes a folder of
LOGDIR with the numbers, texts and hyperparameters it holds; a run that LOGDIR has already is left
alone. Nothing has to be imported for `sonde SOURCE`: that reads these files as they are.
)";

// Copies the bytes of a run as an event file; it appears when it is whole.
Result<uint64_t> copy_run(io::Source& from, const fs::path& to) {
  const fs::path temporary = to.string() + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  std::string chunk(1 << 20, '\0');
  uint64_t written = 0;
  while (true) {
    SONDE_TRY(got, from.read_at(written, std::as_writable_bytes(std::span(chunk))));
    if (got == 0) break;
    out.write(chunk.data(), static_cast<std::streamsize>(got));
    written += got;
  }
  out.close();
  std::error_code failed;
  if (out.fail())
    failed = std::make_error_code(std::errc::io_error);
  else
    fs::rename(temporary, to, failed);
  if (!failed) return written;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return fail(Code::kIo, fmt::format("{}: it cannot be written", to.string()));
}

enum class Done : uint8_t { kWritten, kThere, kFailed };

Done import_run(const trackers::TrackerRuns& runs, const io::FoundRun& run,
                const io::FoundFile& file, const std::string& logdir) {
  const auto complain = [&](const Error& error) {
    fmt::print(stderr, "sonde: {}: {}\n", file.path, error.text);
    return Done::kFailed;
  };
  const auto folder = io::is_inside_root(logdir, run.name == "." ? "run" : run.name);
  if (!folder) return complain(folder.error());
  std::error_code failed;
  for (const auto& there : fs::directory_iterator(*folder, failed)) {
    if (there.path().filename().string().find("tfevents") == std::string::npos) continue;
    fmt::print("{}: there already\n", to_utf8(run.name));
    return Done::kThere;
  }
  fs::create_directories(*folder, failed);
  auto source = runs.open(file.path);
  if (!source) return complain(source.error());
  const auto time = file.stat.mtime_ns / 1'000'000'000;
  const fs::path to = fs::path(*folder) / fmt::format("events.out.tfevents.{}.import", time);
  const auto bytes = copy_run(**source, to);
  if (!bytes) return complain(bytes.error());
  fmt::print("{}: {} bytes\n", to_utf8(run.name), *bytes);
  return Done::kWritten;
}

}  // namespace

int import_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}", kHelp);
    return 0;
  }
  std::string from, logdir;
  Flags flags("sonde import");
  flags.positional("source", from);
  flags.positional("logdir", logdir);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  if (from.empty() || logdir.empty()) return failed("import: give SOURCE and LOGDIR", 2);
  if (::access(from.c_str(), R_OK) != 0) return failed(fmt::format("there is no {}", from));
  std::vector<io::OtherFile> others;
  io::Scan found = io::scan({{"", io::absolute_path(from)}}, trackers::is_candidate, others);
  trackers::TrackerRuns runs;
  runs.find(others, found);
  std::error_code ignored;
  fs::create_directories(io::absolute_path(logdir), ignored);
  size_t written = 0, there = 0, bad = 0;
  for (const io::FoundRun& run : found.runs) {
    for (const io::FoundFile& file : run.files) {
      if (!runs.has(file.path)) continue;
      const Done done = import_run(runs, run, file, io::absolute_path(logdir));
      (done == Done::kWritten ? written : done == Done::kThere ? there : bad) += 1;
    }
  }
  for (const io::SkippedPath& path : found.skipped)
    fmt::print(stderr, "sonde: {}: {}\n", path.path, path.reason);
  if (written + there + bad == 0)
    return failed(fmt::format("{} holds no run of another tracker that is known", from));
  fmt::print("{} {} imported into {}\n", written, written == 1 ? "run" : "runs", logdir);
  return bad > 0 ? 1 : 0;
}

}  // namespace sonde::cli
