// Which tracker made a SQLite file, and the runs in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "log/trackers/run_reader.h"

namespace sonde::trackers {

struct DatabaseRun {
  std::string key;   // what finds it again in the file
  std::string name;  // experiment/run, project/run or study/trial
};

enum class Database : uint8_t { kMlflow, kTrackio, kOptuna, kOther };

struct DatabaseRuns {
  Database kind = Database::kOther;
  std::vector<DatabaseRun> runs;  // in the order they began
};

inline constexpr size_t kMaxDatabaseRuns = 100'000;

Result<DatabaseRuns> runs_in(const std::string& path);
std::unique_ptr<RunReader> read_database_run(Database kind, const std::string& path,
                                             const std::string& key);

}  // namespace sonde::trackers
