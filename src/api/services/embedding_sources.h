// The places of a log directory that hold embeddings, remembered for two seconds. Shared by
// TensorBoard's projector routes and /api/v1/embeddings.
#pragma once

#include <memory>
#include <vector>

#include "api/routes.h"
#include "embed/files/projector.h"

namespace sonde::api {

enum class Folders : uint8_t {
  kRuns,  // folders with event files and the log directory itself: what TensorBoard knows
  kAll,   // also folders that hold only a projector config or a checkpoint
};

std::shared_ptr<const std::vector<embed::projector::Source>> embedding_sources(
    const Context& context, const store::Snapshot& snapshot, Folders folders);

}  // namespace sonde::api
