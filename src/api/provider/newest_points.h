// The largest step and wall time of each series of a run, which TensorBoard asks for again and
// again while it lists. Found by reading every point once: what an earlier answer has read is not
// read again.
#pragma once

#include <string>
#include <unordered_map>

#include "log/model/snapshot.h"

namespace sonde::api::provider {

struct NewestPoint {
  Step step = 0;
  double wall_time = 0;
  uint64_t size = 0;  // points of the series, hidden ones too; 0: step and wall time mean nothing
  uint64_t layout = 0;
};
using NewestPoints = std::unordered_map<std::string, NewestPoint>;  // by tag

NewestPoint newest_point(const store::Series& series, const NewestPoint* earlier);
NewestPoints newest_points(const store::RunSnapshot& run, const NewestPoints* earlier);

}  // namespace sonde::api::provider
