// Runs that other trackers wrote, found among the files of a log directory and opened as if each
// had an event file: wandb, MLflow, Trackio, Optuna, CSV and JSON line logs, trainer_state.json.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/other_files.h"
#include "log/trackers/databases.h"
#include "log/trackers/run_stream.h"

namespace sonde::trackers {

// Whether a file of this name may belong to a tracker: what io::scan is asked to note down.
bool is_candidate(std::string_view name);

class TrackerRuns {
 public:
  // Adds the runs of these files to scan.runs, which stay sorted by name. By one thread.
  void find(const std::vector<io::OtherFile>& files, io::Scan& scan);
  // Whether open() makes the bytes of this path. Thread-safe.
  bool has(const std::string& path) const;
  // Whether a change of this file may change what find() finds or what is in it.
  bool concerns(const std::string& folder, const std::string& name) const;

  // An event file as it is, a tracker's run as the bytes of one. Thread-safe.
  Result<std::unique_ptr<io::Source>> open(const std::string& path) const;

 private:
  struct Found {
    std::string name;  // of the run
    std::string folder, file_name, path;
    std::shared_ptr<RunStream> stream;
  };
  struct Verdict {
    io::FileStat stat;
    DatabaseRuns runs;    // of a database
    bool is_log = false;  // of anything else
    std::string name;     // of a wandb run
  };

  void find_in(const io::OtherFile& file, std::vector<Found>& found);
  void find_database(const io::OtherFile& file, std::vector<Found>& found);
  void find_wandb(const io::OtherFile& file, std::vector<Found>& found);
  void find_rows(const io::OtherFile& file, std::vector<Found>& found);
  void find_mlruns(const io::OtherFile& file, std::vector<Found>& found);
  template <class Make>
  std::shared_ptr<RunStream> stream_of(const std::string& path, Make&& make);

  io::Scan* scan_ = nullptr;
  std::map<std::string, Verdict> verdicts_;  // by path; only find() looks at it
  std::set<std::pair<uint64_t, uint64_t>> seen_;
  std::vector<std::string> folders_;  // of mlruns runs

  mutable std::mutex mutex_;                                   // guards: streams_
  std::map<std::string, std::shared_ptr<RunStream>> streams_;  // by the path given out for them
};

}  // namespace sonde::trackers
