// The steps of a run, and what kind of work a slice is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/export/sources.h"

namespace sonde::exports {

struct StepSpan {
  std::string name;
  int64_t number = 0;
  int64_t begin = 0, end = 0;  // on the run's own axis, ps
};

// As the profile tools find them; marks of PyTorch (ProfilerStep#N) otherwise; of run metadata the
// run itself. In order of time, empty when the run has none.
std::vector<StepSpan> steps_of(const Run& run);

// Kinds of work in order of priority: where several overlap, the first owns the moment.
enum class Kind : uint8_t {
  kKernel,
  kCommunication,
  kCopy,
  kMemset,
  kRuntime,
  kDataLoader,
  kCpu,
  kMark,  // annotations and steps: no work of their own
};
inline constexpr size_t kKinds = 8;

// By label and track, decided once per label; see kinds_of().
class Kinds {
 public:
  explicit Kinds(const trace::Trace& trace);
  Kind of(trace::TrackId track, trace::SliceId slice) const;
  bool is_device(trace::TrackId track) const { return device_[track]; }

 private:
  const trace::Trace& trace_;
  std::vector<bool> device_;               // by track
  std::vector<Kind> on_device_, on_host_;  // by label
};

}  // namespace sonde::exports
