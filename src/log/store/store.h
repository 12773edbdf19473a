// The only mutable shared state of the program: opens log directories, loads and follows them on
// its own threads, publishes snapshots. Readers call snapshot() and never wait for a loader.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/scan.h"
#include "log/model/snapshot.h"

namespace sonde::store {

struct Options {
  struct Root {
    std::string name;  // run name prefix of --logdir_spec, usually empty
    std::string path;
  };
  std::vector<Root> roots;
  bool purge_orphaned_data =
      true;  // View::kNewest hides superseded points; false: it shows everything
  double reload_interval_s =
      5;               // poll period where there is no inotify; 0 = load once; inotify ignores it
  bool follow = true;  // false: load once and stop (inspect, export)
  uint64_t max_memory_bytes = 0;  // 0 = half of what the machine or cgroup has
  size_t threads = 0;             // 0 = one a core
};

// What happened between two revisions, for the event stream.
struct Change {
  uint64_t revision = 0;
  struct SeriesChange {
    RunId run;
    std::string tag;
    uint64_t points;
    Step last_step;
  };
  std::vector<SeriesChange> series;
  std::vector<RunId> added, removed, damaged;
};

struct Skipped {
  std::string path;
  std::string reason;
};

struct Diagnosis {
  uint64_t folders = 0, files = 0, bytes = 0, scan_ms = 0;
  std::vector<Skipped> skipped;
  uint64_t memory_used_bytes = 0, memory_budget_bytes = 0, spilled_bytes = 0;
  std::string watch;  // "inotify", "poll" or "off"
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> open(
      Options options);  // returns at once; loading goes on behind
  virtual ~Store() = default;

  virtual std::shared_ptr<const Snapshot> snapshot() const = 0;
  virtual const BlobReader& blobs() const = 0;
  virtual Diagnosis diagnosis() const = 0;
  virtual const Options& options() const = 0;
  // The folders the last look came by, for those who seek other files than events: nobody else
  // walks the log directory. Folders of object stores are not among them.
  virtual std::shared_ptr<const std::vector<io::NamedFolder>> folders() const = 0;

  // Series that will be read next: a store that has to fetch their points does it at once.
  virtual void prepare(std::span<const Series* const> /*series*/) {}
  // How often points could not be fetched, and why the last time. What was handed out instead has
  // no meaning: an answer during which the number grew is not sent.
  virtual uint64_t failed_reads() const { return 0; }
  virtual std::string last_failure() const { return {}; }

  // Blocks until the first pass over all files is done; progress() is called about ten times a
  // second.
  virtual void wait_loaded(const std::function<void(const LoadProgress&)>& progress = {}) = 0;
  // Looks at all roots now instead of at the next event or interval (TensorBoard's reload).
  virtual void reload() = 0;

  // Calls fn on a store thread after each published revision until the returned handle is dropped.
  virtual std::shared_ptr<void> subscribe(std::function<void(const Change&)> fn) = 0;
};

}  // namespace sonde::store
