// Several devices and hosts: exposed communication, and who the others wait for.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {

void communication(Rules& r) {
  const double percent = r.average.percent(Part::kCollectives),
               ms = r.average.of(Part::kCollectives);
  if (ms == 0) return;
  Finding f = make("COMM-EXPOSED", r.enough && percent >= 5, Severity::kMajor);
  f.text = fmt::format(
      "{:.2f} of {:.1f} ms of each step ({:.0f}%) are communication between devices "
      "that no computation hides.",
      ms, r.average.step_ms, percent);
  f.action =
      "Let it overlap with the backward pass (larger gradient buckets), accumulate gradients "
      "over "
      "several batches, or send fewer bits.";
  if (!r.jax) {
    f.diff =
        "+options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=50 * 1024 * "
        "1024)";
  }
  f.numbers = {{"exposed_ms", ms}, {"percent", percent}};
  f.evidence = {{"trace_viewer", "nccl"}};
  gain(f, ms, r.average.step_ms);
  r.found.push_back(std::move(f));
}

void stragglers(Rules& r) {
  if (r.steps.hosts.size() < 2 || r.steps.steps.empty()) return;
  std::vector<double> mean(r.steps.hosts.size(), 0);
  for (const SessionStep& step : r.steps.steps) {
    for (size_t h = 0; h < mean.size(); ++h)
      mean[h] += static_cast<double>(step.by_host[h]->duration()) / 1e9 /
                 static_cast<double>(r.steps.steps.size());
  }
  const auto [fastest, slowest] = std::minmax_element(mean.begin(), mean.end());
  const double skew = 100.0 * ratio(*slowest - *fastest, *slowest);
  Finding f = make("STRAGGLER", skew > 10, Severity::kMajor);
  const std::string& host = r.steps.hosts[static_cast<size_t>(slowest - mean.begin())]->host().name;
  f.text = fmt::format(
      "{:.1f} ms a step on host {}, {:.1f} ms on the fastest: all wait for the slowest.", *slowest,
      host, *fastest);
  f.action = "Look at that host first: its input, other programs on it, clocks and temperature.";
  f.numbers = {{"skew_percent", skew}};
  f.evidence = {{"pod_viewer", host}};
  gain(f, *slowest - *fastest, r.average.step_ms);
  r.found.push_back(std::move(f));
}

}  // namespace sonde::capture::findings
