// What the tools share about one host's trace, each part computed once when first asked for.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "capture/analysis/forest.h"
#include "capture/analysis/grouping.h"
#include "capture/analysis/hlo/module.h"
#include "capture/analysis/machine.h"
#include "capture/analysis/ops/kernels.h"
#include "capture/analysis/ops/ops.h"
#include "capture/analysis/steps.h"
#include "capture/analysis/vocabulary.h"
#include "capture/report/tool.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

namespace pytorch {
struct Capture;
}
namespace loop {
struct Loop;
}

// A value made on first use.
template <class T>
class Lazy {
 public:
  template <class Make>
  const T& get(const Make& make) const {
    std::call_once(once_, [&] { value_ = std::make_unique<T>(make()); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::unique_ptr<T> value_;
};

class HostAnalysis {
 public:
  HostAnalysis(const trace::Host& host, size_t index);
  ~HostAnalysis();
  HostAnalysis(const HostAnalysis&) = delete;
  HostAnalysis& operator=(const HostAnalysis&) = delete;

  const trace::Trace& trace() const { return *host_.trace; }
  const trace::Host& host() const { return host_; }
  size_t index() const { return index_; }

  const Vocabulary& words() const;
  const Forest& forest() const;
  const Grouping& grouping() const;
  const Steps& steps() const;
  const hlo::Modules& modules() const;
  const HostOps& host_ops() const;
  const DeviceOps& device_ops() const;
  const Machine& machine() const;
  const std::vector<Kernel>& kernels() const;
  // Of captures of PyTorch's profiler; empty for any other.
  const pytorch::Capture& pytorch() const;
  // The training loop of the thread that runs it; without periods where no steps are known.
  const loop::Loop& loop() const;
  bool is_pytorch() const { return trace().format() == "kineto"; }

 private:
  const trace::Host& host_;
  size_t index_;
  Lazy<Vocabulary> words_;
  Lazy<Forest> forest_;
  Lazy<Grouping> grouping_;
  Lazy<Steps> steps_;
  Lazy<hlo::Modules> modules_;
  Lazy<HostOps> host_ops_;
  Lazy<DeviceOps> device_ops_;
  Lazy<Machine> machine_;
  Lazy<std::vector<Kernel>> kernels_;
  Lazy<pytorch::Capture> pytorch_;
  Lazy<loop::Loop> loop_;
};

struct Analysis {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
};

// The hosts a request is about: one by name, or all.
std::vector<const HostAnalysis*> chosen_hosts(const Session& session, const Options& options);

}  // namespace sonde::capture
