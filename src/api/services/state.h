// What one server remembers for /api/v1 beyond the store: numbers of tags, runs that have gone,
// colour slots, the sidecar, the event stream, jobs. Thread-safe; one a server (services.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/routes.h"
#include "api/services/sidecar_file.h"
#include "log/model/snapshot.h"

namespace sonde::api::v1 {

class Hub;
class Jobs;

// One row of GET tags.
struct TagRow {
  uint32_t id = 0;
  std::string name;
  std::string_view kind;
  std::string plugin, title, description;
  std::vector<uint32_t> runs;                   // ids, ascending
  std::shared_ptr<const store::Series> newest;  // of the run listed last
  uint64_t points = 0, revision = 0;
  bool has_steps = false;
  Step min_step = 0, max_step = 0;
};

class State {
 public:
  State(const store::Options& options, const Settings& settings);
  ~State();

  uint32_t tag_id(std::string_view name, std::string_view kind);
  // Every tag of a snapshot in natural order; made once per revision.
  std::shared_ptr<const std::vector<TagRow>> tags(const store::Snapshot& snapshot);

  // A colour slot for each run of the snapshot; -1 for runs without events.
  std::vector<int64_t> slots(const store::Snapshot& snapshot);
  // Ids of runs that were there in an earlier snapshot and have gone after revision `since`.
  std::vector<uint32_t> removed(const store::Snapshot& snapshot, uint64_t since);

  // How much of what has gone is remembered: names of tags and runs, and ids of runs.
  static constexpr size_t kMaxGone = 10'000;
  size_t remembered() const;  // entries of all three together

  SidecarFile& sidecar() { return sidecar_; }
  Hub& hub() { return *hub_; }
  Jobs& jobs() { return *jobs_; }

 private:
  void keep_slots();
  void forget_tags(const std::vector<TagRow>& present);  // with the lock held
  void forget_slots(const store::Snapshot& snapshot);    // with the lock held

  mutable std::mutex mutex_;                           // guards: everything up to sidecar_
  std::unordered_map<std::string, uint32_t> tag_ids_;  // by kind, NUL, name
  std::shared_ptr<const std::vector<TagRow>> tags_;
  uint64_t tags_revision_ = UINT64_MAX;
  uint32_t next_tag_ = 0;
  std::map<uint32_t, uint64_t> known_runs_;          // id -> revision it was missed at, or 0
  std::unordered_map<std::string, uint32_t> slots_;  // by run name
  uint32_t next_slot_ = 0;
  bool slots_dirty_ = false;
  std::string slots_path_;  // empty: nowhere to keep them

  SidecarFile sidecar_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Jobs> jobs_;  // tells the hub, so it ends first
};

}  // namespace sonde::api::v1
