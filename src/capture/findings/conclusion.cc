// The sentence of the overview, from the same numbers as the findings.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/findings/findings.h"
#include "capture/findings/rules.h"

namespace sonde::capture {
namespace {

using loop::Act;

// What a usual period is spent on, largest first, for the end of the sentence.
std::string spent_on(const findings::Rules& r) {
  Act most = Act::kCompute;
  double ms = 0;
  for (size_t a = 0; a < loop::kActCount; ++a) {
    const double here = r.usual_ms(static_cast<Act>(a));
    if (here > ms) ms = here, most = static_cast<Act>(a);
  }
  // A device that waits inside an operation is busy, too: the findings say which operations wait.
  if (most == Act::kCompute && r.loop->has_device)
    return fmt::format(
        "in {:.0f}% of the time from one step to the next operations run on the device or the host",
        100 * ratio(ms, r.rhythm.usual_ms));
  std::string text(loop::act_name(most));
  text[0] = static_cast<char>(text[0] | 0x20);
  return fmt::format("{:.0f}% of the time from one step to the next is {}",
                     100 * ratio(ms, r.rhythm.usual_ms), text);
}

// Share of a usual period that a function of Python takes which makes batches, and its name.
std::pair<double, std::string> made_in_python(const findings::Rules& r) {
  if (!r.loop->has_python) return {};
  const loop::Ranges moments = inside(r.loop->of(Act::kPython), *r.loop, r.rhythm.usual);
  const loop::Path path = python_path(r.pace->trace(), *r.loop, moments);
  if (path.purpose != loop::Purpose::kLoads) return {};
  const double ms =
      static_cast<double>(path.inside_ps) / 1e9 / static_cast<double>(r.rhythm.usual.size());
  return {100 * ratio(ms, r.rhythm.usual_ms), path.text};
}

double of_all_time(const findings::Rules& r, Act act) {
  double here = 0, all = 0;
  for (const loop::Period& p : r.loop->periods) {
    here += static_cast<double>(p.of(act));
    all += static_cast<double>(p.length());
  }
  return 100 * ratio(here, all);
}

// Share of all time that steps take which stand out, and whether it is their batches that are late.
std::pair<double, bool> of_exceptions(const findings::Rules& r) {
  if (r.rhythm.outliers.empty()) return {0, false};
  double longer = 0, waits = 0;
  for (const size_t i : r.rhythm.outliers) {
    const loop::Period& p = r.loop->periods[i];
    longer += static_cast<double>(p.length()) / 1e9 - r.rhythm.usual_ms;
    waits += static_cast<double>(p.of(Act::kInput)) / 1e9 - r.usual_ms(Act::kInput);
  }
  return {100 * r.rhythm.extra_share, 2 * waits > longer};
}

}  // namespace

Bottleneck conclusion(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps) {
  const bool tf_data = uses_tf_data(hosts);
  Bottleneck b = classify(steps, tf_data);
  findings::Rules r(hosts, steps);
  if (!r.loop || r.rhythm.usual_ms <= 0 || r.loop->doubtful) {
    // Without a loop and without a pipeline nothing speaks for the input.
    if (!tf_data && b.where == "both" && b.input_percent < 5)
      b.statement = fmt::format(
          "{:.1f}% of the step time is in none of the known parts (Python, most likely).",
          b.other_percent);
    return b;
  }
  if (const std::string late = findings::who_is_late(r); !late.empty()) {
    b.where = "host";
    b.statement = late;
    b.next_step = "See the findings for what takes the time.";
    return b;
  }
  const auto percent = [&](Act act) { return 100 * ratio(r.usual_ms(act), r.rhythm.usual_ms); };
  const double python = percent(Act::kPython) + percent(Act::kUnrecorded);
  b.input_percent = percent(Act::kInput);
  // Steps that stand out take their share of all time, and the usual ones only the rest.
  const auto [exceptions, late_batches] = of_exceptions(r);
  if (exceptions >= 15)
    b.input_percent = late_batches && (r.rhythm.every > 0 || r.rhythm.first_only)
                          ? of_all_time(r, Act::kInput)
                          : b.input_percent * (1 - exceptions / 100);
  if (b.where == "unknown") return b;
  if (python < 10) {  // what XLA's threads do is no Python
    b.other = "no";
    b.other_statement.clear();
  }
  // A short wait beside something that takes twice as long is not what binds the program.
  double other = 0;
  for (const Act act : {Act::kCompile, Act::kCheckpoint, Act::kCallback, Act::kOpByOp, Act::kPython,
                        Act::kUnrecorded, Act::kCommunication})
    other = std::max(other, percent(act));
  if (exceptions >= 15 && exceptions > b.input_percent && !late_batches) {
    b.where = "host";
    b.statement =
        fmt::format("{:.0f}% of all time is what {} of {} steps take longer than a usual one.",
                    exceptions, r.rhythm.outliers.size(), r.loop->periods.size());
  } else if (b.input_percent >= 5 && b.input_percent < 20 && other > b.input_percent) {
    b.where = "host";
    b.statement = fmt::format("{}; {:.1f}% waits for input.", spent_on(r), b.input_percent);
    if (b.statement[0] == 'i') b.statement[0] = 'I';
  } else if (b.input_percent >= 5) {
    const bool high = b.input_percent >= 20;
    b.where = high ? "host" : "both";
    b.statement = fmt::format(
        "The program is {} input-bound: {:.1f}% of the time from one step to the next waits for "
        "input.{}",
        high ? "highly" : "moderately", b.input_percent, high ? " Shorten the input first." : "");
  } else if (const auto [share, function] = made_in_python(r); share >= 10) {
    b.where = "host";
    // What a function is for is read from its name: no more than likely.
    b.statement = fmt::format(
        "The program may be input-bound: {:.1f}% of the time from one step to the next is {}, "
        "which makes the next batch, going by its name.",
        share, function);
  } else if (python >= 10) {
    // Whether the input is made there cannot be told from the outside.
    b.where = "host";
    b.statement = fmt::format("{:.1f}% of the time from one step to the next is Python{}.", python,
                              r.loop->has_python ? "" : " that was not recorded");
  } else {
    b.where = r.usual_ms(Act::kCompute) >= 0.8 * r.rhythm.usual_ms ? "device" : "host";
    b.statement = fmt::format("The program is not input-bound: {}.", spent_on(r));
  }
  if (r.loop->pytorch || r.loop->jax || !tf_data) {
    b.next_step = b.where == "device" ? "The rest of this page can be skipped."
                                      : "See the findings for what takes the time.";
  } else {
    b.next_step = b.where == "device" ? "The rest of this page can be skipped."
                                      : "See below which input operation takes the time.";
  }
  return b;
}

}  // namespace sonde::capture
