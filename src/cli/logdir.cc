#include "cli/logdir.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "io/file.h"
#include "io/remote/remote.h"
#include "io/scan.h"
#include "log/load/index_file.h"

namespace sonde::cli {
namespace {

store::Store* kept_store = nullptr;  // reachable, so that leak checkers know it is meant

void show_progress(const store::LoadProgress& progress) {
  fmt::print(stderr, "\r\x1b[Kreading {} of {} in {} files, {} points",
             human_bytes(progress.bytes_done), human_bytes(progress.bytes), progress.files,
             human_count(progress.points));
}

Result<void> there_is(const std::string& path) {
  if (const auto good = io::check_scheme(path); !good) return good;
  if (io::is_remote(path)) return io::check_remote(path);
  if (const auto there = io::stat_of(path); !there)
    return fail(Code::kNotFound, there.error().text);
  return {};
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& args) {
  return std::any_of(args.begin(), args.end(),
                     [](const std::string& arg) { return arg == "--help" || arg == "-h"; });
}

void set_index(bool beside_logs, const std::string& folder) {
  using Where = store::IndexPlace::Where;
  if (!folder.empty()) {
    store::set_index_place({Where::kFolder, io::absolute_path(folder)});
  } else if (beside_logs) {
    store::set_index_place({Where::kBesideLogs, ""});
  }
}

void LogdirFlags::declare(Flags& flags) {
  flags.positional("logdir", positional);
  flags.text("logdir", logdir);
  flags.text("logdir_spec", logdir_spec);
  flags.bytes("max_memory", max_memory);
  flags.on("index", keeps_index);
  flags.text("index_dir", index_dir);
  flags.integer("threads", threads, 1, 1024);
  flags.boolean("purge_orphaned_data", purge_orphaned_data);
}

Result<store::Store*> open_logdir(const LogdirFlags& flags) {
  store::Options options;
  const std::string& path = flags.positional.empty() ? flags.logdir : flags.positional;
  if (!flags.logdir_spec.empty()) {
    for (const io::ScanRoot& root : io::parse_logdir_spec(flags.logdir_spec))
      options.roots.push_back({root.name, root.path});
  } else if (!path.empty()) {
    const std::string absolute = io::absolute_path(path);
    if (const auto there = there_is(absolute); !there) return fail(there.error());
    options.roots.push_back({"", absolute});
  }
  if (options.roots.empty()) return fail(Code::kInvalid, "give a log directory");
  options.follow = flags.follow;
  options.max_memory_bytes = flags.max_memory;
  options.threads = static_cast<size_t>(flags.threads);
  options.purge_orphaned_data = flags.purge_orphaned_data.value_or(true);
  set_index(flags.keeps_index, flags.index_dir);
  SONDE_TRY(store, store::Store::open(std::move(options)));
  kept_store = store.release();
  if (::isatty(STDERR_FILENO)) {
    kept_store->wait_loaded(show_progress);
    fmt::print(stderr, "\r\x1b[K");
  } else {
    kept_store->wait_loaded();
  }
  return kept_store;
}

}  // namespace sonde::cli
