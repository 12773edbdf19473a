#include "log/team/team_store.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "log/model/memory.h"
#include "log/store/blob_reader.h"
#include "log/store/run_index.h"
#include "log/team/table_series.h"

namespace sonde::team {
namespace {

class TeamStore final : public store::Store {
 public:
  TeamStore(io::ClickHouse server, std::string project, store::Options options)
      : tables_(std::move(server), std::move(project)),
        options_(std::move(options)),
        cache_(tables_, options_.max_memory_bytes ? options_.max_memory_bytes
                                                  : store::default_memory_budget()) {
    options_.roots = {{"", tables_.server().place() + "?project=" + tables_.project()}};
    auto empty = std::make_shared<store::Snapshot>();
    empty->index = std::make_shared<store::SnapshotIndex>();
    snapshot_ = std::move(empty);
  }

  ~TeamStore() override {
    follower_.request_stop();
    wake_.notify_all();
  }

  // Looks for the first time, and from then on by itself.
  Result<void> start() {
    if (auto looked = look(); !looked) return looked;
    follower_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
    return {};
  }

  std::shared_ptr<const store::Snapshot> snapshot() const override {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }
  const store::BlobReader& blobs() const override { return blobs_; }
  const store::Options& options() const override { return options_; }
  std::shared_ptr<const std::vector<io::NamedFolder>> folders() const override { return folders_; }
  store::Diagnosis diagnosis() const override {
    store::Diagnosis diagnosis;
    diagnosis.watch = options_.reload_interval_s == 0 ? "off" : "poll";
    return diagnosis;
  }
  void wait_loaded(const std::function<void(const store::LoadProgress&)>&) override {}
  void reload() override {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    wake_.notify_all();
  }
  std::shared_ptr<void> subscribe(std::function<void(const store::Change&)> fn) override {
    auto kept = std::make_shared<std::function<void(const store::Change&)>>(std::move(fn));
    const std::lock_guard lock(mutex_);
    subscribers_.push_back(kept);
    return kept;
  }
  void prepare(std::span<const store::Series* const> series) override {
    std::vector<const SeriesRow*> rows;
    for (const store::Series* one : series) {
      if (one->is_scalar()) rows.push_back(&static_cast<const TableSeries*>(one)->row());
    }
    cache_.prepare(rows);
  }
  uint64_t failed_reads() const override { return cache_.failures(); }
  std::string last_failure() const override { return cache_.last_failure(); }

 private:
  void follow(const std::stop_token& stop);
  Result<void> look();
  Result<std::vector<store::BlobPoint>> references(std::string_view run, std::string_view tag,
                                                   BlobKind kind, uint64_t count);
  Result<std::vector<store::MistypedValue>> mistyped(const SeriesRow& row);
  Result<std::shared_ptr<store::RunSnapshot>> run_of(const RunRow& row, std::span<SeriesRow> series,
                                                     store::Change& change);
  void publish(std::vector<std::shared_ptr<const store::RunSnapshot>> runs,
               const store::Change& change);
  store::FileId file_id(const std::string& path);

  const Tables tables_;
  store::Options options_;
  PointCache cache_;
  store::FileBlobReader blobs_;
  const std::shared_ptr<const std::vector<io::NamedFolder>> folders_ =
      std::make_shared<std::vector<io::NamedFolder>>();

  // Only the follower (before it starts: the opener) touches these.
  std::string fingerprint_;
  std::map<std::string, store::RunId> run_ids_;
  uint64_t revision_ = 0;

  std::mutex files_mutex_;  // guards: files_
  std::map<std::string, store::FileId> files_;

  mutable std::mutex mutex_;  // guards: everything below
  std::condition_variable_any wake_;
  bool is_asked_ = false;
  std::shared_ptr<const store::Snapshot> snapshot_;
  std::vector<std::weak_ptr<std::function<void(const store::Change&)>>> subscribers_;

  std::jthread follower_;  // last: starts when everything else is there
};

void TeamStore::follow(const std::stop_token& stop) {
  name_this_thread("follow");
  const auto pause = std::chrono::duration<double>(
      options_.reload_interval_s > 0 ? std::max(options_.reload_interval_s, 0.05) : 24 * 3600.0);
  std::string said;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      const bool is_asked =
          wake_.wait_for(lock, stop, pause, [this] { return std::exchange(is_asked_, false); });
      if (stop.stop_requested()) return;
      if (!is_asked && options_.reload_interval_s == 0) continue;
    }
    const auto looked = look();
    const std::string wrong = looked ? "" : looked.error().text;
    if (!wrong.empty() && wrong != said) log::warn("{}; what was read stays", wrong);
    said = wrong;
  }
}

store::FileId TeamStore::file_id(const std::string& path) {
  const std::lock_guard lock(files_mutex_);
  const auto [at, is_new] = files_.try_emplace(path);
  if (is_new) at->second = blobs_.add_file(path);
  return at->second;
}

Result<std::vector<store::BlobPoint>> TeamStore::references(std::string_view run,
                                                            std::string_view tag, BlobKind kind,
                                                            uint64_t count) {
  SONDE_TRY(rows, tables_.blobs(run, tag, kind));
  std::vector<store::BlobPoint> points;
  for (BlobRow& row : rows) {
    if (row.n != points.size() || points.size() == count) break;
    row.point.where.file = file_id(row.file);
    points.push_back(row.point);
  }
  if (points.size() < count)
    return fail(Code::kCorrupt, "ClickHouse lacks values of run '" + std::string(run) + "', tag '" +
                                    std::string(tag) + "'; push the logs again");
  return points;
}

Result<std::vector<store::MistypedValue>> TeamStore::mistyped(const SeriesRow& row) {
  std::vector<store::MistypedValue> values;
  if (row.mistyped == 0) return values;
  SONDE_TRY(rows, tables_.blobs(row.run, row.tag, BlobKind::kMistyped));
  for (BlobRow& one : rows) {
    one.point.where.file = file_id(one.file);
    values.push_back({one.point, one.position});
  }
  return values;
}

Result<std::shared_ptr<store::RunSnapshot>> TeamStore::run_of(const RunRow& row,
                                                              std::span<SeriesRow> series,
                                                              store::Change& change) {
  const auto before = snapshot();
  const auto [id, is_new] =
      run_ids_.try_emplace(row.run, static_cast<store::RunId>(run_ids_.size()));
  if (is_new) change.added.push_back(id->second);
  const store::RunSnapshot* old = before->find(row.run);
  auto run = std::make_shared<store::RunSnapshot>();
  run->id = id->second;
  run->name = row.run;
  run->folder = row.folder;
  run->first_wall_time = row.first_wall_time;
  run->min_wall_time = row.min_wall_time;
  run->last_wall_time = row.last_wall_time;
  run->points = row.points;
  run->bytes = row.bytes;
  run->segments = static_cast<uint32_t>(std::clamp<uint64_t>(row.segments, 1, UINT32_MAX));
  run->has_events = row.has_events;
  run->revision = change.revision;
  if (row.meta_graphs > 0) {
    SONDE_TRY(graphs, references(row.run, "", BlobKind::kMetaGraph, row.meta_graphs));
    run->meta_graphs = std::move(graphs);
  }
  auto by_tag = std::make_shared<store::NameIndex>();
  for (SeriesRow& one : series) {
    const auto* known = old ? static_cast<const TableSeries*>(old->find(one.tag)) : nullptr;
    if (known && known->row().version == one.version) {
      const auto at = static_cast<const store::NameIndex*>(old->index.get())->find(one.tag);
      run->series.push_back(old->series[at->second]);
      continue;
    }
    SONDE_TRY(strays, mistyped(one));
    change.series.push_back({run->id, one.tag, one.points, one.last.step});
    run->series.push_back(std::make_shared<const TableSeries>(
        std::move(one), std::move(strays), cache_,
        [this](const SeriesRow& asked) {
          return references(asked.run, asked.tag, BlobKind::kValue, asked.points);
        },
        change.revision));
  }
  for (uint32_t i = 0; i < run->series.size(); ++i) by_tag->emplace(run->series[i]->tag(), i);
  run->index = std::move(by_tag);
  return run;
}

Result<void> TeamStore::look() {
  SONDE_TRY(now, tables_.fingerprint());
  if (now == fingerprint_) return {};
  SONDE_TRY(rows, tables_.runs());
  SONDE_TRY(all_series, tables_.series());
  store::Change change;
  change.revision = revision_ + 1;
  std::vector<std::shared_ptr<const store::RunSnapshot>> runs;
  size_t begin = 0;
  for (const RunRow& row : rows) {  // both lists are in the order of run names
    while (begin < all_series.size() && all_series[begin].run < row.run) ++begin;
    size_t end = begin;
    while (end < all_series.size() && all_series[end].run == row.run) ++end;
    SONDE_TRY(run, run_of(row, std::span(all_series).subspan(begin, end - begin), change));
    runs.push_back(std::move(run));
    begin = end;
  }
  for (const auto& run : snapshot()->runs) {
    if (!std::ranges::binary_search(rows, run->name, {}, &RunRow::run))
      change.removed.push_back(run->id);
  }
  fingerprint_ = std::move(now);
  revision_ = change.revision;
  publish(std::move(runs), change);
  return {};
}

void TeamStore::publish(std::vector<std::shared_ptr<const store::RunSnapshot>> runs,
                        const store::Change& change) {
  auto next = std::make_shared<store::Snapshot>();
  next->revision = revision_;
  next->runs = std::move(runs);
  const auto time_of = [](const store::RunSnapshot& run) {
    return std::isnan(run.first_wall_time) ? std::numeric_limits<double>::infinity()
                                           : run.first_wall_time;
  };
  std::ranges::stable_sort(next->runs,
                           [&](const auto& a, const auto& b) { return time_of(*a) < time_of(*b); });
  auto index = std::make_shared<store::SnapshotIndex>();
  for (uint32_t i = 0; i < next->runs.size(); ++i) {
    index->by_name.emplace(next->runs[i]->name, i);
    index->by_id.emplace(static_cast<uint32_t>(next->runs[i]->id), i);
    next->progress.points += next->runs[i]->points;
  }
  next->index = std::move(index);
  std::vector<std::shared_ptr<std::function<void(const store::Change&)>>> listeners;
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(next);
    std::erase_if(subscribers_, [](const auto& one) { return one.expired(); });
    for (const auto& one : subscribers_) {
      if (auto fn = one.lock()) listeners.push_back(std::move(fn));
    }
  }
  for (const auto& listener : listeners) (*listener)(change);
}

}  // namespace

Result<std::unique_ptr<store::Store>> open_team_store(io::ClickHouse server, std::string project,
                                                      store::Options options) {
  auto store =
      std::make_unique<TeamStore>(std::move(server), std::move(project), std::move(options));
  if (auto started = store->start(); !started) return fail(started.error());
  return std::unique_ptr<store::Store>(std::move(store));
}

}  // namespace sonde::team
