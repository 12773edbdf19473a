#include "capture/findings/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::capture::findings {
namespace {

Averages averages_of(const SessionSteps& steps) {
  Averages a;
  a.steps = steps.steps.size();
  if (a.steps == 0) return a;
  for (const SessionStep& step : steps.steps) {
    const Step& s = step.slowest();
    a.step_ms += static_cast<double>(s.duration()) / 1e9;
    for (size_t p = 0; p < kPartCount; ++p)
      a.part_ms[p] += static_cast<double>(s.part(static_cast<Part>(p))) / 1e9;
  }
  const double n = static_cast<double>(a.steps);
  a.step_ms /= n;
  for (double& ms : a.part_ms) ms /= n;
  return a;
}

int64_t picos(double ms) { return static_cast<int64_t>(ms * 1e9); }

}  // namespace

Finding make(std::string_view id, bool fired, Severity severity) {
  Finding finding;
  finding.id = id;
  finding.fired = fired;
  finding.severity = fired ? severity : Severity::kInfo;
  return finding;
}

void gain(Finding& finding, double ms, double step_ms) {
  if (!finding.fired || ms <= 0 || step_ms <= 0) return;
  ms = std::min(ms, step_ms);
  finding.gain_ps = picos(ms);
  finding.text += fmt::format(" Without it a step would take at least {:.1f} ms (-{:.0f}%).",
                              step_ms - ms, 100.0 * ms / step_ms);
}

Rules::Rules(const std::vector<const HostAnalysis*>& h, const SessionSteps& s)
    : hosts(h), steps(s), average(averages_of(s)) {
  enough = average.steps >= kEnoughSteps;
  for (const HostAnalysis* host : hosts) gpu |= !host->words().gpu_planes.empty();
  for (const HostAnalysis* host : hosts) {
    const loop::Loop& found_loop = host->loop();
    jax |= found_loop.jax;
    keras |= found_loop.keras;
    if (found_loop.periods.size() < 2) continue;
    loop::Rhythm found_rhythm = loop::rhythm_of(found_loop);
    if (loop && found_rhythm.usual_ms <= rhythm.usual_ms) continue;
    pace = host;
    loop = &found_loop;
    rhythm = std::move(found_rhythm);
  }
  // Steps that nobody marked, but that the loop shows, are steps.
  if (loop) enough |= loop->periods.size() >= kEnoughSteps;
}

double Rules::typical(std::vector<double> each) const {
  if (!rhythm.uneven || each.empty()) return loop::median(std::move(each));
  double sum = 0;
  for (const double value : each) sum += value;
  return sum / static_cast<double>(each.size());
}

std::string Rules::of_step(double ms) const {
  return fmt::format("{:.1f} of {:.1f} ms of {} ({:.0f}%)", ms, rhythm.usual_ms,
                     rhythm.uneven ? "a step on average" : "each step",
                     100 * ratio(ms, rhythm.usual_ms));
}

std::vector<Finding> Rules::take() {
  // The late rank comes before what it is late with, and before advice to exchange less: as long as
  // one is late, the others wait in their exchanges.
  double late = 0, own = 0;
  for (const Finding& f : found) {
    if (!f.fired || f.id != "STRAGGLER") continue;
    late = std::max(late, 1.5 * static_cast<double>(f.gain_ps.value_or(0)));
    for (const auto& [name, value] : f.numbers) {
      if (name == "own_ms") own = std::max(own, 1e9 * value);
    }
  }
  const auto weight = [&](const Finding& f) {
    const auto ps = static_cast<double>(f.gain_ps.value_or(0));
    if (f.id == "STRAGGLER") return 1.5 * ps;
    // What is mostly the late rank's own is why it is late.
    if (f.id != "COMM-EXPOSED" && late > 0 && 0.6 * ps <= own) return std::min(ps, late - 1);
    // Unless the exchange itself takes far longer than the waiting.
    return f.id == "COMM-EXPOSED" && late > 0.5 * ps ? std::min(ps, late - 1) : ps;
  };
  std::stable_sort(found.begin(), found.end(), [&](const Finding& a, const Finding& b) {
    if (a.fired != b.fired) return a.fired;
    // What makes the rest doubtful, or ends the run, comes before what makes it slow.
    const auto grave = [](const Finding& f) {
      return f.fired && f.severity == Severity::kCritical && !f.gain_ps;
    };
    if (grave(a) != grave(b)) return grave(a);
    if (weight(a) != weight(b)) return weight(a) > weight(b);
    return a.severity > b.severity;
  });
  return std::move(found);
}

}  // namespace sonde::capture::findings
