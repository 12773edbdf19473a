// Sends what a log directory holds to a team's tables: what is not there yet, each time it is
// called.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "log/store/store.h"
#include "log/team/tables.h"

namespace sonde::team {

struct PushOptions {
  bool replaces = false;  // series that were rewritten: remove the old points first
  std::function<bool(const std::string&)> wants_run, wants_tag;
};

class Pusher {
 public:
  Pusher(const Tables& tables, PushOptions options)
      : tables_(tables), options_(std::move(options)) {}

  // Reads what the tables have; the rest of a life this is remembered.
  Result<void> ask_what_is_there();
  Result<void> push(const store::Snapshot& snapshot,
                    const std::function<std::string(store::FileId)>& path_of);

  uint64_t sent() const { return sent_; }  // points and references
  // Series that were left alone because they were rewritten since they were pushed.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  using Key = std::pair<std::string, std::string>;  // run, tag
  using Paths = std::function<std::string(store::FileId)>;
  Result<void> push_series(const store::RunSnapshot& run, const store::Series& series,
                           uint32_t position, const Paths& path_of);
  Result<void> push_run(const store::RunSnapshot& run, const Paths& path_of);
  Result<void> send_numbers(const std::string& run, const store::Series& series, SeriesRow& row,
                            uint64_t from);
  Result<void> send_references(const std::string& run, const store::Series& series, SeriesRow& row,
                               uint64_t from, const Paths& path_of);
  Result<void> send_full();
  Result<void> flush();

  const Tables& tables_;
  const PushOptions options_;
  std::map<Key, SeriesRow> pushed_;
  std::map<std::string, RunRow> pushed_runs_;
  std::map<Key, uint64_t> revisions_;           // of series that are pushed as far as they go
  std::string points_, blobs_, series_, runs_;  // rows that wait, in the order of sending
  std::vector<SeriesRow> waiting_;              // what series_ holds
  uint64_t sent_ = 0;
  std::vector<std::string> refused_;
};

}  // namespace sonde::team
