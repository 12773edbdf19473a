#include "log/trackers/tracker_runs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "log/trackers/meta_yaml.h"
#include "log/trackers/readers.h"
#include "log/trackers/rows.h"
#include "log/trackers/values.h"
#include "log/trackers/wandb_name.h"
#include "table/sqlite_file.h"

namespace sonde::trackers {
namespace {

constexpr std::array<std::string_view, 3> kDatabaseEnds = {".db", ".sqlite", ".sqlite3"};
constexpr std::string_view kTrainerState = "trainer_state.json", kMeta = "meta.yaml";
constexpr size_t kHeadBytes = 64 << 10;

bool is_database(std::string_view name) {
  return std::any_of(kDatabaseEnds.begin(), kDatabaseEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

bool is_csv(std::string_view name) { return name.ends_with(".csv") || name == "training.log"; }

// "a/b" and "c" -> "a/b/c"; "." is the log directory itself.
std::string run_below(const std::string& run, std::string_view name) {
  return run == "." || run.empty() ? std::string(name) : run + "/" + std::string(name);
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// checkpoint-500 -> 500; -1 for any other folder.
int64_t checkpoint_of(std::string_view folder) {
  constexpr std::string_view kPrefix = "checkpoint-";
  if (!folder.starts_with(kPrefix)) return -1;
  folder.remove_prefix(kPrefix.size());
  int64_t number = -1;
  const auto [end, error] = std::from_chars(folder.data(), folder.data() + folder.size(), number);
  return error == std::errc() && end == folder.data() + folder.size() ? number : -1;
}

Result<std::string> head_of(const std::string& path) {
  SONDE_TRY(file, io::File::open(path));
  std::string head(static_cast<size_t>(std::min<uint64_t>(kHeadBytes, file.stat().size)), '\0');
  SONDE_TRY(got, file.read_at(0, {reinterpret_cast<std::byte*>(head.data()), head.size()}));
  head.resize(got);
  return head;
}

void skip(io::Scan& scan, const std::string& path, std::string reason) {
  if (scan.skipped.size() < 1000) scan.skipped.push_back({path, std::move(reason)});
}

}  // namespace

bool is_candidate(std::string_view name) {
  return name.ends_with(".wandb") || is_database(name) || is_csv(name) ||
         name.ends_with(".jsonl") || name == kTrainerState || name == kMeta;
}

bool TrackerRuns::concerns(const std::string& folder, const std::string& name) const {
  std::string_view main = name;
  for (const std::string_view end : {"-wal", "-journal"})
    if (main.ends_with(end)) main.remove_suffix(end.size());
  if (is_candidate(main)) return true;
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& run) { return folder.starts_with(run); });
}

template <class Make>
std::shared_ptr<RunStream> TrackerRuns::stream_of(const std::string& path, Make&& make) {
  const std::lock_guard lock(mutex_);
  auto& stream = streams_[path];
  if (!stream) stream = std::make_shared<RunStream>(make());
  return stream;
}

Result<std::unique_ptr<io::Source>> TrackerRuns::open(const std::string& path) const {
  std::shared_ptr<RunStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(path);
    if (found != streams_.end()) stream = found->second;
  }
  return stream ? stream->open() : io::open_records(path);
}

bool TrackerRuns::has(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return streams_.contains(path);
}

void TrackerRuns::find(const std::vector<io::OtherFile>& files, io::Scan& scan) {
  scan_ = &scan;
  seen_.clear();
  folders_.clear();
  std::vector<Found> found;
  // Deepest trainer_state.json first would be wrong: a folder's own beats those of checkpoints,
  // and of those the newest counts.
  std::map<std::string, std::pair<int64_t, const io::OtherFile*>> states;
  for (const io::OtherFile& file : files) {
    if (!seen_.emplace(file.stat.device, file.stat.inode).second) continue;  // wandb/latest-run
    if (file.name != kTrainerState) {
      find_in(file, found);
      continue;
    }
    const int64_t checkpoint = checkpoint_of(last_of(file.folder));
    const std::string run = checkpoint < 0 ? file.run : parent_of(file.run);
    auto& best = states[run];
    const int64_t rank = checkpoint < 0 ? INT64_MAX : checkpoint;
    if (!best.second || rank > best.first) best = {rank, &file};
  }
  for (const auto& [run, best] : states) {
    const std::string path = best.second->path;
    found.push_back({run, best.second->folder, best.second->name, path,
                     stream_of(path, [&] { return read_trainer_state(path); })});
  }
  std::set<std::string> names, paths;
  for (const io::FoundRun& run : scan.runs) names.insert(run.name);
  for (Found& one : found) {
    const auto stat = one.stream->stat();
    if (!stat) continue;
    // A run that has event files keeps them apart from a second log of the same numbers.
    std::string name = one.name;
    if (names.contains(name)) name = run_below(name, one.file_name);
    for (int number = 2; names.contains(name); ++number)
      name = one.name + "-" + std::to_string(number);
    names.insert(name);
    paths.insert(one.path);
    scan.bytes += stat->size;
    ++scan.files;
    scan.runs.push_back({name, one.folder, {{one.file_name, one.path, *stat, /*is_link=*/false}}});
  }
  std::sort(scan.runs.begin(), scan.runs.end(),
            [](const io::FoundRun& a, const io::FoundRun& b) { return a.name < b.name; });
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) { return !paths.contains(entry.first); });
}

void TrackerRuns::find_in(const io::OtherFile& file, std::vector<Found>& found) {
  if (is_database(file.name)) {
    find_database(file, found);
  } else if (file.name.ends_with(".wandb")) {
    find_wandb(file, found);
  } else if (file.name == kMeta) {
    find_mlruns(file, found);
  } else {
    find_rows(file, found);
  }
}

void TrackerRuns::find_database(const io::OtherFile& file, std::vector<Found>& found) {
  Verdict& verdict = verdicts_[file.path];
  const auto stat = table::SqliteFile::stat(file.path);
  if (!stat) return;
  if (!(verdict.stat == *stat)) {
    auto runs = runs_in(file.path);
    if (runs) {
      verdict = {*stat, std::move(*runs), false, {}};
    } else {
      skip(*scan_, file.path, runs.error().text);
    }
  }
  for (const DatabaseRun& run : verdict.runs.runs) {
    const std::string path = file.path + "?run=" + run.key;
    found.push_back(
        {run_below(file.run, run.name), file.folder, file.name, path, stream_of(path, [&] {
           return read_database_run(verdict.runs.kind, file.path, run.key);
         })});
  }
}

// The folder is called offline-run-<time>-<id>; people know the name they gave.
void TrackerRuns::find_wandb(const io::OtherFile& file, std::vector<Found>& found) {
  Verdict& verdict = verdicts_[file.path];
  if (verdict.name.empty()) {
    const auto head = head_of(file.path);
    if (!head || !head->starts_with(":W&B")) return;
    verdict.name = wandb_name(as_bytes(*head));
  }
  if (verdict.name.empty()) return;  // its first record is not written yet
  found.push_back({run_below(parent_of(file.run), verdict.name), file.folder, file.name, file.path,
                   stream_of(file.path, [&] { return read_wandb(file.path); })});
}

void TrackerRuns::find_rows(const io::OtherFile& file, std::vector<Found>& found) {
  // Tables of samples and rollouts have a page of their own.
  if (("/" + file.run + "/").find("/tables/") != std::string::npos) return;
  Verdict& verdict = verdicts_[file.path];
  const bool by_lines = !is_csv(file.name);
  if (!(verdict.stat == file.stat) && !verdict.is_log) {
    const auto head = head_of(file.path);
    if (!head) return skip(*scan_, file.path, head.error().text);
    const LooksLike looks = by_lines ? json_lines_look_like(*head) : csv_looks_like(*head);
    verdict.is_log = looks == LooksLike::kLog;
    verdict.stat = file.stat;
  }
  if (!verdict.is_log) return;
  // Lightning writes <run>/metrics.csv: the folder is the run.
  const std::string stem = file.name.substr(0, file.name.rfind('.'));
  const bool is_folder = stem == "metrics" || stem == "training" || stem == "log";
  found.push_back({is_folder ? file.run : run_below(file.run, stem), file.folder, file.name,
                   file.path, stream_of(file.path, [&] {
                     return by_lines ? read_json_lines(file.path) : read_csv(file.path);
                   })});
}

void TrackerRuns::find_mlruns(const io::OtherFile& file, std::vector<Found>& found) {
  const Meta meta = read_meta(file.path);
  if (meta.at("run_id").empty() || meta.at("lifecycle_stage") == "deleted") return;
  const std::string experiment =
      read_meta(parent_of(file.folder) + "/" + std::string(kMeta)).at("name");
  const std::string above = parent_of(file.run);
  std::string name = meta.at("run_name").empty() ? meta.at("run_id") : meta.at("run_name");
  name = experiment.empty() ? run_below(above, run_name_part(name))
                            : run_below(parent_of(above), run_name_part(experiment + "/" + name));
  folders_.push_back(file.folder);
  const std::string path = file.path;
  found.push_back({std::move(name), file.folder, file.name, path,
                   stream_of(path, [&] { return read_mlruns(file.folder); })});
}

}  // namespace sonde::trackers
