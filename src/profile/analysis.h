// What the tools share about one host's trace, each part computed once when first asked for.
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "profile/tool.h"
#include "trace/trace.h"

namespace sonde::profile {

class HostAnalysis {
 public:
  HostAnalysis(const trace::Host& host, size_t index);
  ~HostAnalysis();
  HostAnalysis(const HostAnalysis&) = delete;
  HostAnalysis& operator=(const HostAnalysis&) = delete;

  const trace::Trace& trace() const { return *host_.trace; }
  const trace::Host& host() const { return host_; }
  size_t index() const { return index_; }

 private:
  const trace::Host& host_;
  size_t index_;
};

struct Analysis {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
};

// The hosts a request is about: one by name, or all.
std::vector<const HostAnalysis*> chosen_hosts(const Session& session, const Options& options);

}  // namespace sonde::profile
