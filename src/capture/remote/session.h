// Records a session: asks the profiler server of every host at the same time, tries again while
// nobody has anything, and writes <logdir>/plugins/profile/<time>/<host>_<port>.xplane.pb, where
// TensorBoard's profile plug-in puts and looks for it. Nothing else of the log directory is
// touched.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/remote/address.h"
#include "capture/remote/profiler.h"
#include "io/address_policy.h"

namespace sonde::remote {

struct Plan {
  std::vector<Address> services;
  // With workers, the first service is a head node that collects from them (TPU pods); one that
  // cannot leaves the asking to us.
  std::vector<Address> workers;
  std::string logdir;
  Options options;
  std::optional<io::AddressPolicy> policy = {};  // of a plan that a request made
};

enum class Phase : uint8_t { kConnecting, kRecording, kReceiving, kDone, kFailed };
std::string_view name_of(Phase phase);

struct HostProgress {
  std::string host;  // "localhost:6009"
  Phase phase = Phase::kConnecting;
  uint64_t bytes = 0;  // of its answer so far
  std::string error;   // when it failed
};

struct Progress {
  std::string session;  // name of the folder; another one for each attempt
  int64_t attempt = 1, attempts = 1;
  std::vector<HostProgress> hosts;
};

struct Recorded {
  std::string folder;  // absolute
  Progress progress;   // hosts that failed say why; at least one is done
};

// `watch` is called from several threads, one at a time, whenever something changed. The error
// names every host and what it said; kConflict when stopped.
Result<Recorded> record(const Plan& plan, const std::function<void(const Progress&)>& watch,
                        const std::stop_token& stop = {});

// Whether a name that a server gave its data may be part of a file's name here.
bool is_tool_name(std::string_view name);

}  // namespace sonde::remote
