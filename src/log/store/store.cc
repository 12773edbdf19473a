#include "log/store/store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "io/scan.h"
#include "io/watch.h"
#include "log/load/index_file.h"
#include "log/model/memory.h"
#include "log/store/blob_reader.h"
#include "log/store/publication.h"
#include "log/store/run.h"
#include "log/trackers/tracker_runs.h"

namespace sonde::store {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSettleMs = 10;      // a burst of small writes becomes one update
constexpr int kSafetyMs = 60'000;  // inotify can miss what happens behind links: look anyway
constexpr int kMissingRootMs = 1000;
// A database's new rows become visible after the write that inotify tells of.
constexpr int kLookAgainMs = 1200;
constexpr auto kPublishEvery = std::chrono::milliseconds(100);

class LiveStore final : public Store {
 public:
  // Everybody finds the roots where the runs say they are, however they were typed.
  static Options with_whole_roots(Options options) {
    for (Options::Root& root : options.roots) root.path = io::absolute_path(root.path);
    return options;
  }

  explicit LiveStore(Options options)
      : options_(with_whole_roots(std::move(options))),
        memory_(std::make_shared<Memory>(options_.max_memory_bytes)),
        threads_(options_.threads ? options_.threads : usable_cores()),
        pool_("load", threads_ - 1) {
    for (const Options::Root& root : options_.roots) roots_.push_back({root.name, root.path});
    auto empty = std::make_shared<Snapshot>();
    empty->progress.loading = true;
    snapshot_ = std::move(empty);
    follower_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  }

  ~LiveStore() override {
    follower_.request_stop();
    stopping_ = true;
    watcher_.wake();
    if (follower_.joinable()) follower_.join();
  }

  std::shared_ptr<const Snapshot> snapshot() const override {
    const std::lock_guard lock(snapshot_mutex_);
    return snapshot_;
  }
  const BlobReader& blobs() const override { return blobs_; }
  const Options& options() const override { return options_; }
  std::shared_ptr<const std::vector<io::NamedFolder>> folders() const override {
    const std::lock_guard lock(snapshot_mutex_);
    return folders_;
  }

  Diagnosis diagnosis() const override {
    const std::lock_guard lock(snapshot_mutex_);
    Diagnosis diagnosis = diagnosis_;
    diagnosis.memory_used_bytes = memory_->used_bytes();
    diagnosis.memory_budget_bytes = memory_->budget_bytes();
    diagnosis.spilled_bytes = memory_->spilled_bytes();
    return diagnosis;
  }

  void wait_loaded(const std::function<void(const LoadProgress&)>& progress) override {
    std::unique_lock lock(loaded_mutex_);
    while (!loaded_) {
      loaded_changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (!progress) continue;
      lock.unlock();
      progress(current_progress());
      lock.lock();
    }
  }

  void reload() override {
    rescan_ = true;
    watcher_.wake();
  }

  std::shared_ptr<void> subscribe(std::function<void(const Change&)> fn) override {
    auto kept = std::make_shared<std::function<void(const Change&)>>(std::move(fn));
    const std::lock_guard lock(subscribers_mutex_);
    subscribers_.push_back(kept);
    return kept;
  }

 private:
  void follow(const std::stop_token& stop);
  int wait_time() const;
  enum class Look : uint8_t { kEverything, kTrackers };
  void rescan(Look look = Look::kEverything);
  bool watch(const io::Scan& found);
  std::vector<std::shared_ptr<FileLoader>> note_found(const io::Scan& found, Look look);
  Run& run_of(const io::FoundRun& seen);  // with runs_mutex_ held, like the next four
  void note_files(Run& run, const io::FoundRun& seen, Look look,
                  std::vector<std::shared_ptr<FileLoader>>& changed);
  void forget(const Run& run);
  void merge(Run& run, Change& change);
  LoadProgress progress_of_runs() const;
  void note_diagnosis(const io::Scan& found, bool is_watched, Clock::duration took);
  std::set<std::shared_ptr<FileLoader>> changed_files(const io::Watcher::Changes& changes,
                                                      bool& structure, bool& trackers);
  void load(std::vector<std::shared_ptr<FileLoader>> files);
  void for_each_file(size_t count, const std::function<void(size_t)>& fn);
  void publish();
  std::optional<Change> make_snapshot();
  void tell(const Change& change);
  LoadProgress current_progress() const;

  const Options options_;
  std::vector<io::ScanRoot> roots_;
  const std::shared_ptr<Memory> memory_;
  const size_t threads_;
  trackers::TrackerRuns trackers_;
  io::Scan walked_;  // the last walk, without the runs of other trackers; the follower's own
  std::vector<io::OtherFile> others_;  // of that walk, that trackers may have written
  FileBlobReader blobs_{[this](const std::string& path) { return trackers_.open(path); }};
  io::Watcher watcher_;
  std::atomic<bool> rescan_ = false, stopping_ = false;

  // Lock order: runs_mutex_ first; loaded_mutex_ and snapshot_mutex_ may be taken under it, for
  // a moment and with nothing under them. subscribers_mutex_ is taken alone, and no lock is held
  // while subscribers are called.

  // Only the follower changes the set of runs and files; it holds the mutex while it does.
  mutable std::mutex runs_mutex_;  // guards: everything up to root_missing_
  std::map<std::string, Run> runs_;
  std::unordered_map<uint32_t, std::string> file_runs_;  // FileId -> run name
  std::map<std::string, std::shared_ptr<FileLoader>> by_path_;
  std::set<std::string> dirty_;
  std::vector<RunId> added_, removed_;
  std::vector<Run::Conflict> conflicts_;
  std::vector<std::shared_ptr<const FileState>> file_states_;
  uint32_t next_run_ = 0;
  uint64_t revision_ = 0;
  uint64_t total_bytes_ = 0, total_files_ = 0;
  Clock::time_point published_ = {};
  bool unwatchable_ = false;  // some folder must be polled
  bool root_missing_ = false;
  bool look_again_ = true;  // at files of other trackers, soon

  mutable std::mutex snapshot_mutex_;  // guards: snapshot_, folders_, diagnosis_
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const std::vector<io::NamedFolder>> folders_ =
      std::make_shared<std::vector<io::NamedFolder>>();
  Diagnosis diagnosis_;

  std::mutex loaded_mutex_;  // guards: loaded_
  std::condition_variable loaded_changed_;
  bool loaded_ = false;

  std::mutex subscribers_mutex_;  // guards: subscribers_
  std::vector<std::weak_ptr<std::function<void(const Change&)>>> subscribers_;

  ThreadPool pool_;
  std::jthread follower_;  // last: starts when everything else is there
};

void LiveStore::follow(const std::stop_token& stop) {
  name_this_thread("follow");
  const bool follow = options_.follow && options_.reload_interval_s != 0;
  rescan();
  publish();
  {
    const std::lock_guard lock(loaded_mutex_);
    loaded_ = true;
  }
  publish();
  loaded_changed_.notify_all();
  while (follow && !stop.stop_requested()) {
    io::Watcher::Changes changes = watcher_.wait(wait_time());
    if (stop.stop_requested()) return;
    const bool timed_out = changes.list.empty() && !changes.woken && !changes.overflowed;
    if (!changes.list.empty()) {
      // Let the burst finish, then take all of it.
      std::this_thread::sleep_for(std::chrono::milliseconds(kSettleMs));
      io::Watcher::Changes more = watcher_.wait(0);
      changes.list.insert(changes.list.end(), more.list.begin(), more.list.end());
      changes.overflowed = changes.overflowed || more.overflowed;
    }
    bool trackers = timed_out && std::exchange(look_again_, false);
    // Where nothing tells of changes a look at trackers' files does not stand in for a walk.
    const bool is_polled = unwatchable_ || root_missing_;
    bool structure =
        (timed_out && (!trackers || is_polled)) || changes.overflowed || rescan_.exchange(false);
    const auto files = changed_files(changes, structure, trackers);
    if (!files.empty()) load({files.begin(), files.end()});
    if (structure) {
      rescan();
    } else if (trackers) {
      rescan(Look::kTrackers);
    }
    look_again_ = look_again_ || (trackers && !timed_out);
    publish();
  }
  // Loaded once, but an explicit reload still looks again.
  while (!follow && options_.follow && !stop.stop_requested()) {
    watcher_.wait(-1);
    if (stop.stop_requested()) return;
    if (rescan_.exchange(false)) rescan();
    publish();
  }
}

int LiveStore::wait_time() const {
  const int interval =
      static_cast<int>(std::clamp(options_.reload_interval_s * 1000.0, 50.0, 24.0 * 3600 * 1000));
  if (look_again_) return std::min(interval, kLookAgainMs);
  if (unwatchable_) return interval;
  if (root_missing_) return std::min(interval, kMissingRootMs);
  return std::max(interval, kSafetyMs);
}

// The files that grew. Anything that came or went sets `structure`.
std::set<std::shared_ptr<FileLoader>> LiveStore::changed_files(const io::Watcher::Changes& changes,
                                                               bool& structure, bool& trackers) {
  std::set<std::shared_ptr<FileLoader>> files;
  const std::lock_guard lock(runs_mutex_);
  for (const io::Watcher::Change& change : changes.list) {
    const auto found = by_path_.find(change.folder + "/" + change.name);
    if (trackers_.concerns(change.folder, change.name)) {
      // A database's journal comes and goes with every commit and is no change of the folder.
      const bool is_journal = change.name.ends_with("-journal") || change.name.ends_with("-wal");
      trackers = true;
      structure = structure || (!change.content_only && !is_journal);
    } else if (found != by_path_.end()) {
      files.insert(found->second);
      structure = structure || !change.content_only;
    } else if (!change.content_only || change.name.find("tfevents") != std::string::npos) {
      structure = true;
    }
  }
  return files;
}

// Walks all roots, takes note of what came and went, and loads what changed. kTrackers: only the
// files of other trackers, which the last walk found, are looked at: one database holds many runs.
void LiveStore::rescan(Look look) {
  const auto begin = Clock::now();
  if (look == Look::kEverything) {
    walked_ = io::scan(roots_, trackers::is_candidate, others_);
  } else {
    for (io::OtherFile& file : others_) {
      if (const auto stat = io::stat_of(file.path)) file.stat = *stat;
    }
  }
  io::Scan found = walked_;
  trackers_.find(others_, found);
  const bool is_watched = watch(found);
  auto changed = note_found(found, look);
  note_diagnosis(found, is_watched, Clock::now() - begin);
  load(std::move(changed));
}

// False when some root has to be polled.
bool LiveStore::watch(const io::Scan& found) {
  bool is_watched = true, is_missing = false;
  if (options_.follow) {
    is_watched = watcher_.works() && watcher_.watch(found.folders);
    for (const io::ScanRoot& root : roots_) {
      is_missing = is_missing || !io::stat_of(root.path);
      if (io::is_remote_file_system(root.path)) is_watched = false;
    }
  }
  const std::lock_guard lock(runs_mutex_);
  unwatchable_ = !is_watched || found.has_links;
  root_missing_ = is_missing;
  return is_watched;
}

// Makes runs and files what the scan found; returns the files that have to be read.
std::vector<std::shared_ptr<FileLoader>> LiveStore::note_found(const io::Scan& found, Look look) {
  std::vector<std::shared_ptr<FileLoader>> changed;
  const std::lock_guard lock(runs_mutex_);
  std::set<std::string> names;
  by_path_.clear();
  for (const io::FoundRun& seen : found.runs) {
    names.insert(seen.name);
    note_files(run_of(seen), seen, look, changed);
  }
  std::erase_if(runs_, [&](const auto& entry) {
    if (names.contains(entry.first)) return false;
    forget(entry.second);
    return true;
  });
  total_bytes_ = found.bytes;
  total_files_ = found.files;
  return changed;
}

// The run of that name; a new one when there is none, or when the name moved to another folder.
Run& LiveStore::run_of(const io::FoundRun& seen) {
  auto at = runs_.find(seen.name);
  if (at != runs_.end() && at->second.folder() != seen.folder) {
    forget(at->second);
    runs_.erase(at);
    at = runs_.end();
  }
  if (at == runs_.end()) {
    const auto id = static_cast<RunId>(next_run_++);
    at = runs_.try_emplace(seen.name, id, seen.name, seen.folder).first;
    added_.push_back(id);
    dirty_.insert(seen.name);
  }
  return at->second;
}

void LiveStore::note_files(Run& run, const io::FoundRun& seen, Look look,
                           std::vector<std::shared_ptr<FileLoader>>& changed) {
  std::set<std::string> present;
  for (const io::FoundFile& file : seen.files) {
    present.insert(file.name);
    auto& loader = run.files[file.name];
    const bool is_new = !loader;
    if (is_new) {
      const FileId id = blobs_.add_file(file.path);
      file_runs_[static_cast<uint32_t>(id)] = seen.name;
      const bool of_tracker = trackers_.has(file.path);
      loader = std::make_shared<FileLoader>(
          FileLoader::Place{id, file.path, to_utf8(file.name),
                            of_tracker ? std::string() : index_path_of(file.path), of_tracker,
                            writes_indexes()},
          memory_, [this](const std::string& path) { return trackers_.open(path); });
      if (static_cast<size_t>(id) == file_states_.size()) file_states_.emplace_back();
    }
    by_path_[file.path] = loader;
    if (!is_new && look == Look::kTrackers && !trackers_.has(file.path)) continue;
    const auto known = loader->committed();
    if (is_new || known->gone || known->state == kUnreadable || !(loader->stat() == file.stat))
      changed.push_back(loader);
  }
  for (auto& [name, loader] : run.files) {
    if (present.contains(name) || loader->committed()->gone) continue;
    loader->mark_gone();
    dirty_.insert(seen.name);
  }
}

void LiveStore::note_diagnosis(const io::Scan& found, bool is_watched, Clock::duration took) {
  auto folders =
      std::make_shared<const std::vector<io::NamedFolder>>(io::named_folders(found, roots_));
  const bool is_followed = options_.follow && options_.reload_interval_s != 0;
  const std::lock_guard lock(snapshot_mutex_);
  folders_ = std::move(folders);
  diagnosis_.folders = found.folders.size();
  diagnosis_.files = found.files;
  diagnosis_.bytes = found.bytes;
  diagnosis_.skipped.clear();
  for (const io::SkippedPath& skipped : found.skipped)
    diagnosis_.skipped.push_back({skipped.path, skipped.reason});
  diagnosis_.scan_ms =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  diagnosis_.watch = !is_followed ? "off" : is_watched ? "inotify" : "poll";
}

// Nothing of a run that has gone is kept but its files' numbers, and those come back.
void LiveStore::forget(const Run& run) {
  removed_.push_back(run.id());
  for (const auto& [name, loader] : run.files) {
    const FileId id = loader->place().id;
    file_states_[static_cast<size_t>(id)].reset();
    file_runs_.erase(static_cast<uint32_t>(id));
    blobs_.remove_file(id);
  }
}

void LiveStore::for_each_file(size_t count, const std::function<void(size_t)>& fn) {
  if (threads_ > 1) return pool_.for_each(count, fn, ThreadPool::Priority::kBackground);
  for (size_t i = 0; i < count; ++i) fn(i);
}

void LiveStore::load(std::vector<std::shared_ptr<FileLoader>> files) {
  // A file can contradict what the run knows about a tag only a few times; each round settles it.
  for (int round = 0; round < 4 && !files.empty(); ++round) {
    const std::function<void()> publish_now = [this] { publish(); };
    const std::function<void()> on_the_way = options_.follow ? publish_now : nullptr;
    for_each_file(files.size(), [&](size_t i) {
      if (stopping_) return;
      if (!files[i]->update({pool_, threads_}, on_the_way)) return;
      {
        const std::lock_guard lock(runs_mutex_);
        const auto owner = file_runs_.find(static_cast<uint32_t>(files[i]->place().id));
        if (owner != file_runs_.end()) dirty_.insert(owner->second);
        if (!options_.follow || Clock::now() - published_ < kPublishEvery) return;
      }
      publish();
    });
    publish();
    files.clear();
    const std::lock_guard lock(runs_mutex_);
    for (Run::Conflict& conflict : conflicts_) {
      conflict.file->reread_with(conflict.seeds);
      files.push_back(conflict.file);
    }
    conflicts_.clear();
  }
}

LoadProgress LiveStore::current_progress() const {
  const std::lock_guard lock(runs_mutex_);
  return progress_of_runs();
}

LoadProgress LiveStore::progress_of_runs() const {
  LoadProgress progress;
  progress.files = total_files_;
  progress.bytes = total_bytes_;
  for (const auto& [name, run] : runs_) {
    for (const auto& [file, loader] : run.files) {
      const auto committed = loader->committed();
      progress.bytes_done += loader->bytes_done();
      progress.files_done += committed->state != "loading";
      progress.points += committed->points;
    }
  }
  return progress;
}

// The next snapshot: runs that changed are merged anew, all others are shared with the last one.
// Nobody is told when nothing changed.
void LiveStore::publish() {
  if (const auto change = make_snapshot()) tell(*change);
}

std::optional<Change> LiveStore::make_snapshot() {
  const std::lock_guard lock(runs_mutex_);
  published_ = Clock::now();
  const bool is_loading = [&] {
    const std::lock_guard inner(loaded_mutex_);
    return !loaded_;
  }();
  const bool is_same_load = snapshot()->progress.loading == is_loading;
  if (dirty_.empty() && removed_.empty() && added_.empty() && is_same_load) return std::nullopt;
  Change change;
  change.revision = ++revision_;
  change.added = std::exchange(added_, {});
  change.removed = std::exchange(removed_, {});
  for (const std::string& name : std::exchange(dirty_, {})) {
    if (const auto at = runs_.find(name); at != runs_.end()) merge(at->second, change);
  }
  auto next = std::make_shared<Snapshot>();
  next->revision = revision_;
  next->files = file_states_;
  next->progress = progress_of_runs();
  next->progress.loading = is_loading;
  for (const auto& [name, run] : runs_) {
    if (run.last()) next->runs.push_back(run.last());
  }
  sort_and_index(*next);
  const std::lock_guard snapshot_lock(snapshot_mutex_);
  snapshot_ = std::move(next);
  return change;
}

void LiveStore::merge(Run& run, Change& change) {
  Run::Merged merged = run.merge(revision_, options_.purge_orphaned_data, {pool_, threads_});
  std::move(merged.changes.begin(), merged.changes.end(), std::back_inserter(change.series));
  std::move(merged.conflicts.begin(), merged.conflicts.end(), std::back_inserter(conflicts_));
  if (merged.damage_changed) change.damaged.push_back(run.id());
  for (const auto& [name, loader] : run.files)
    file_states_[static_cast<size_t>(loader->place().id)] = file_state_of(*loader, run.id());
}

void LiveStore::tell(const Change& change) {
  std::vector<std::shared_ptr<std::function<void(const Change&)>>> listeners;
  {
    const std::lock_guard lock(subscribers_mutex_);
    std::erase_if(subscribers_, [](const auto& subscriber) { return subscriber.expired(); });
    for (const auto& subscriber : subscribers_) {
      if (auto fn = subscriber.lock()) listeners.push_back(std::move(fn));
    }
  }
  for (const auto& listener : listeners) (*listener)(change);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(Options options) {
  if (options.roots.empty()) return fail(Code::kInvalid, "no log directory was given");
  return std::unique_ptr<Store>(std::make_unique<LiveStore>(std::move(options)));
}

}  // namespace sonde::store
