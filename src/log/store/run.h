// One run: its files in name order, and how they become one picture. Which points a restart has
// superseded is decided here, from what the files say about themselves, each time anew: a file that
// looked like a restart may turn out to be a second writer when the first goes on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "log/load/file_loader.h"
#include "log/store/series.h"
#include "log/store/store.h"

namespace sonde::store {

class Run {
 public:
  Run(RunId id, std::string name, std::string folder)
      : id_(id), name_(std::move(name)), folder_(std::move(folder)) {}

  // By name: that is the order of their points.
  std::map<std::string, std::shared_ptr<FileLoader>> files;

  struct Conflict {
    std::shared_ptr<FileLoader> file;  // took a tag for something it is not
    MetadataHints seeds;               // what the tag is, by the earlier files
  };
  struct Merged {
    std::shared_ptr<const RunSnapshot> snapshot;
    std::vector<Change::SeriesChange> changes;
    std::vector<Conflict> conflicts;
    bool damage_changed = false;
  };
  // The picture of everything the files have committed. Series that did not change are shared with
  // the last one.
  Merged merge(uint64_t revision, bool purge, const ParallelFor& help);

  RunId id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& folder() const { return folder_; }
  const std::shared_ptr<const RunSnapshot>& last() const { return last_; }

 private:
  RunId id_;
  std::string name_, folder_;
  std::shared_ptr<const RunSnapshot> last_;
};

}  // namespace sonde::store
