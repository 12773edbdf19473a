// What the rules share: the numbers of a session and where to put what they find. A rule is a
// function over these; each family of rules is one file beside this one, and all_findings() in
// findings.cc calls them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/merged.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture::findings {

// Steps below which an average says little.
inline constexpr size_t kEnoughSteps = 3;

struct Averages {
  double step_ms = 0;
  std::array<double, kPartCount> part_ms{};
  size_t steps = 0;
  double of(Part part) const { return part_ms[static_cast<size_t>(part)]; }
  double percent(Part part) const { return 100.0 * ratio(of(part), step_ms); }
};

struct Rules {
  Rules(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps);

  const std::vector<const HostAnalysis*>& hosts;
  const SessionSteps& steps;
  Averages average;
  bool enough = false, gpu = false;
  // The loop of the host that sets the pace, where its steps are known; null otherwise.
  const HostAnalysis* pace = nullptr;
  const loop::Loop* loop = nullptr;
  loop::Rhythm rhythm;
  double tensor_core_unused_percent = 0;  // set by kernels(), read by precision()
  std::vector<Finding> found;

  double usual_ms(loop::Act act) const { return loop::usual_ms(*loop, rhythm, act); }
  // Of values of the usual periods: the median; of uneven ones the mean.
  double typical(std::vector<double> each) const;
  // "12.0 of 30.0 ms of each step (40%)", of a period of the loop.
  std::string of_step(double ms) const;
  bool jax = false, keras = false;  // what the capture's own names show

  // What fired first, by gain; then what was checked and is no problem.
  std::vector<Finding> take();
};

Finding make(std::string_view id, bool fired, Severity severity);
inline Severity by_share(double share) {
  return share >= 0.2 ? Severity::kCritical : Severity::kMajor;
}
// Says what a step would take without it, and keeps the number.
void gain(Finding& finding, double ms, double step_ms);

// input.cc: waiting for data
void input_wait(Rules& r);
// Names the stage of tf.data that slow batches wait for and puts its remedy into the finding; empty
// where no stage is known.
std::string slow_stage(const Rules& r, Finding& f);
void first_step(Rules& r);
void prefetch_empty(Rules& r);
// device.cc: copies, launches, kernels
void host_to_device(Rules& r);
void output(Rules& r);
void launch(Rules& r);
void kernels(Rules& r);
void precision(Rules& r);
void device_idle(Rules& r);
// tpu.cc: what a TPU waits for
void tpu(Rules& r);
// ranks.cc: several devices and hosts
void communication(Rules& r);
void stragglers(Rules& r);
// host.cc: what TensorFlow says about its functions
void retracing(Rules& r);
// loop_acts.cc: what the loop's thread does instead of computing
void loop_rules(Rules& r);
// Says how to compile less often; the function that is compiled, or nothing.
std::string advise_compile(const Rules& r, Finding& f);
// op_by_op.cc: rows of small operations
void op_by_op(Rules& r);
// eager_outside.cc: operations beside the compiled step; whether it said something
bool eager_outside(Rules& r);
// hot_operation.cc: conversions and copies, and the operation that takes most
void hot_operations(Rules& r);
// periodic.cc: steps that stand out
void periodic(Rules& r);
// capture.cc: the capture itself
void no_steps(Rules& r);
void data_loss(Rules& r);
// pytorch*.cc: the same questions asked of a PyTorch capture, answered in its terms
void pytorch_rules(Rules& r);
// The sentence about the rank that the others wait for; empty where there is none.
std::string who_is_late(Rules& r);

}  // namespace sonde::capture::findings
