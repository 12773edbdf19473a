#include "capture/analysis/analysis.h"

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/pytorch/shared_results.h"

namespace sonde::capture {

HostAnalysis::HostAnalysis(const trace::Host& host, size_t index) : host_(host), index_(index) {}
HostAnalysis::~HostAnalysis() = default;

const Vocabulary& HostAnalysis::words() const {
  return words_.get([&] { return Vocabulary(trace()); });
}
const Forest& HostAnalysis::forest() const {
  return forest_.get([&] { return Forest(trace(), words()); });
}
const Grouping& HostAnalysis::grouping() const {
  return grouping_.get([&] {
    return is_pytorch() ? pytorch::grouping_of(pytorch())
                        : group_slices(trace(), words(), forest());
  });
}
const Steps& HostAnalysis::steps() const {
  return steps_.get([&] {
    return is_pytorch() ? pytorch::steps_of(pytorch())
                        : break_down_steps(trace(), words(), grouping());
  });
}
const hlo::Modules& HostAnalysis::modules() const {
  return modules_.get([&] { return hlo::Modules(trace()); });
}
namespace {

bool may_run_eagerly(const trace::Trace& trace, const Vocabulary& words) {
  return words.key.is_eager != trace::kNone || words.key.eager_op != trace::kNone ||
         trace.key("EagerExecute") != trace::kNone;
}

// The sums by op ask the grouping only for what ran eagerly. Where nothing can have, they do
// without it, which spares the whole forest of the trace.
const Grouping& eager_marks(const HostAnalysis& host, Grouping& nothing) {
  if (may_run_eagerly(host.trace(), host.words())) return host.grouping();
  nothing.eager.assign(host.trace().slice_count(), 0);
  return nothing;
}

}  // namespace

const HostOps& HostAnalysis::host_ops() const {
  return host_ops_.get([&] {
    if (is_pytorch()) return pytorch::host_ops_of(pytorch());
    Grouping nothing;
    return capture::host_ops(trace(), words(), eager_marks(*this, nothing));
  });
}
const DeviceOps& HostAnalysis::device_ops() const {
  return device_ops_.get([&] {
    if (is_pytorch()) return pytorch::device_ops_of(pytorch());
    Grouping nothing;
    return capture::device_ops(trace(), words(), eager_marks(*this, nothing), modules());
  });
}
const Machine& HostAnalysis::machine() const {
  return machine_.get(
      [&] { return is_pytorch() ? pytorch::machine_of(pytorch()) : machine_of(trace(), words()); });
}
const std::vector<Kernel>& HostAnalysis::kernels() const {
  return kernels_.get([&] {
    return is_pytorch() ? pytorch::kernels_of(pytorch())
                        : kernels_of(trace(), words(), modules(), machine());
  });
}

const pytorch::Capture& HostAnalysis::pytorch() const {
  return pytorch_.get([&] { return pytorch::Capture(trace()); });
}

const loop::Loop& HostAnalysis::loop() const {
  return loop_.get([&] { return loop::loop_of(*this); });
}

Session::Session(trace::Session loaded)
    : loaded_(std::move(loaded)), analysis_(std::make_unique<Analysis>()) {
  // The hosts vector is heap memory and never changes: references to its elements survive a move
  // of the session.
  for (size_t i = 0; i < loaded_.hosts.size(); ++i)
    analysis_->hosts.push_back(std::make_unique<HostAnalysis>(loaded_.hosts[i], i));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

std::vector<const HostAnalysis*> chosen_hosts(const Session& session, const Options& options) {
  std::vector<const HostAnalysis*> chosen;
  for (const auto& host : session.analysis().hosts) {
    if (options.host.empty() || options.host == "ALL_HOSTS" || host->host().name == options.host)
      chosen.push_back(host.get());
  }
  return chosen;
}

}  // namespace sonde::capture
