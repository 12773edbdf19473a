#include "log/store/publication.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "log/store/run_index.h"

namespace sonde::store {
namespace {

double time_of(const RunSnapshot& run) {
  return std::isnan(run.first_wall_time) ? std::numeric_limits<double>::infinity()
                                         : run.first_wall_time;
}

}  // namespace

std::shared_ptr<const FileState> file_state_of(const FileLoader& loader, RunId run) {
  const auto seen = loader.committed();
  auto state = std::make_shared<FileState>();
  state->path = loader.place().path;
  state->name = loader.place().name;
  state->run = run;
  state->size_bytes = seen->size_bytes;
  state->read_bytes = seen->read_bytes;
  state->records = seen->facts.records;
  state->damaged = seen->damaged;
  state->state = seen->state;
  return state;
}

void sort_and_index(Snapshot& snapshot) {
  std::stable_sort(snapshot.runs.begin(), snapshot.runs.end(),
                   [](const auto& a, const auto& b) { return time_of(*a) < time_of(*b); });
  auto index = std::make_shared<SnapshotIndex>();
  for (uint32_t i = 0; i < snapshot.runs.size(); ++i) {
    index->by_name.emplace(snapshot.runs[i]->name, i);
    index->by_id.emplace(static_cast<uint32_t>(snapshot.runs[i]->id), i);
  }
  snapshot.index = std::move(index);
}

}  // namespace sonde::store
