// The host of a capture that a request of the trace viewer is about, and the answers that live in
// files of their own.
#pragma once

#include <memory>

#include "api/captures.h"
#include "api/routes.h"
#include "trace/level_of_detail.h"

namespace sonde::api::v1 {

struct Viewed {
  std::shared_ptr<const Capture> capture;
  const trace::LevelOfDetail* lod = nullptr;
  std::shared_ptr<const trace::Trace> trace;
  size_t host = 0;
};

// By the parameters `session` and `host` (its index).
Result<Viewed> viewed(const Context& context, const Request& request);

Answer trace_steps(const Context& context, const Request& request);
Answer trace_flows(const Context& context, const Request& request);

}  // namespace sonde::api::v1
