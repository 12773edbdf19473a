// What a snapshot says beyond its runs: the state of each file, the order of the runs, and the index
// behind Snapshot::find.
#pragma once

#include <memory>

#include "log/load/file_loader.h"
#include "log/model/snapshot.h"

namespace sonde::store {

std::shared_ptr<const FileState> file_state_of(const FileLoader& loader, RunId run);

// Runs by their first wall time; those without an event have none and come last, by name.
void sort_and_index(Snapshot& snapshot);

}  // namespace sonde::store
