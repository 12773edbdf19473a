// Steps that stand out: the first one, which fills buffers or compiles, and work that comes every
// so many steps. Neither is part of a usual step, so neither is told as one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;

constexpr double kWorthSaying = 0.15;  // of all time
constexpr double kMostOfIt = 0.5;      // of what the steps take longer
constexpr size_t kNoAccident = 4;      // so many at equal distances, however long each is

struct Extra {
  Act act = Act::kCompute;
  double ms = 0;            // a step that stands out, longer than a usual one
  double act_ms = 0;        // of it, the act that grew most
  double act_whole_ms = 0;  // that act in a step that stands out
};

double mean_of(const Rules& r, const std::vector<size_t>& periods, Act act) {
  double sum = 0;
  for (const size_t i : periods) sum += static_cast<double>(r.loop->periods[i].of(act)) / 1e9;
  return periods.empty() ? 0 : sum / static_cast<double>(periods.size());
}

Extra extra_of(const Rules& r) {
  Extra e;
  for (size_t a = 0; a < loop::kActCount; ++a) {
    const auto act = static_cast<Act>(a);
    const double whole = mean_of(r, r.rhythm.outliers, act);
    const double more = whole - r.usual_ms(act);
    e.ms += more;
    if (more > e.act_ms) e.act = act, e.act_ms = more, e.act_whole_ms = whole;
  }
  return e;
}

// Functions, annotations and operations that only the steps that stand out have, or that take most
// of what they take longer: the outermost of them.
struct Only {
  std::string name;
  double ms = 0;  // a step that stands out
  loop::Purpose purpose = loop::Purpose::kUnknown;
};
// The name that the program gave its steps.
bool marks_steps(const Rules& r, const loop::Culprit& c) {
  return r.loop->marked && c.count == r.rhythm.outliers.size() &&
         std::ranges::any_of(r.rhythm.outliers, [&](size_t i) {
           const loop::Period& p = r.loop->periods[i];
           return c.total_ps == p.marked_end - p.begin;
         });
}
Only only_there(const Rules& r, double extra_ms) {
  Only best;
  const trace::Trace& trace = r.pace->trace();
  const auto windows = [&](const std::vector<size_t>& periods) {
    loop::Ranges list;
    for (const size_t i : periods)
      list.push_back({r.loop->periods[i].begin, r.loop->periods[i].end});
    return pytorch::merged(std::move(list));
  };
  std::map<trace::LabelId, double> usual;
  for (const loop::Culprit& c : culprits(trace, *r.loop, windows(r.rhythm.usual)))
    usual[c.label] = static_cast<double>(c.inside_ps) / 1e9 /
                     static_cast<double>(std::max<size_t>(1, r.rhythm.usual.size()));
  uint16_t depth = UINT16_MAX;
  for (const loop::Culprit& c : culprits(trace, *r.loop, windows(r.rhythm.outliers))) {
    const double ms =
        static_cast<double>(c.inside_ps) / 1e9 / static_cast<double>(r.rhythm.outliers.size());
    const auto known = usual.find(c.label);
    const double before = known == usual.end() ? 0 : known->second;
    const std::string_view name = trace.text(trace.labels()[c.label].name);
    if (ms - before < kMostOfIt * extra_ms || before > 0.02 * ms || c.depth >= depth) continue;
    if (name.starts_with("ProfilerStep#") || marks_steps(r, c)) continue;
    // In a single step an operation that all have may have been held up.
    if (r.rhythm.outliers.size() == 1 && before > 0 && !loop::is_frame(name)) continue;
    // Each step that stands out has one of these, and it lies in it.
    if (c.total_ps > c.inside_ps + c.inside_ps / 20 || c.count < r.rhythm.outliers.size()) continue;
    depth = c.depth;
    best.ms = ms;
    if (loop::is_frame(name)) {
      const loop::Frame frame = loop::frame_of(name);
      best.name = fmt::format("{} ({}:{})", frame.function,
                              frame.file.substr(frame.file.rfind('/') + 1), frame.line);
      if (frame.builtin) best.name = frame.function;
      best.purpose = loop::purpose_of(frame.function);
    } else {
      best.name = name;
    }
  }
  return best;
}

std::string places(const Rules& r) {
  if (r.rhythm.every > 0)
    return fmt::format("every {}{} step ({} of {} steps)", r.rhythm.every,
                       r.rhythm.every == 2   ? "nd"
                       : r.rhythm.every == 3 ? "rd"
                                             : "th",
                       r.rhythm.outliers.size(), r.loop->periods.size());
  return fmt::format("{} of {} steps", r.rhythm.outliers.size(), r.loop->periods.size());
}

// What the outliers take longer is about the same in each; where it is much longer than a usual
// step, a busy machine may double it.
bool alike(const Rules& r) {
  double least = 1e300, most = 0;
  for (const size_t i : r.rhythm.outliers) {
    const double more = static_cast<double>(r.loop->periods[i].length()) / 1e9 - r.rhythm.usual_ms;
    least = std::min(least, more);
    most = std::max(most, more);
  }
  return least > (least > 3 * r.rhythm.usual_ms ? 0.4 : 0.7) * most;
}

// The operation that the steps that stand out call most beyond the usual ones.
std::string more_operations(const Rules& r) {
  const trace::Trace& trace = r.pace->trace();
  const auto counted = [&](const std::vector<size_t>& periods) {
    loop::Ranges list;
    for (const size_t i : periods)
      list.push_back({r.loop->periods[i].begin, r.loop->periods[i].end});
    std::map<trace::LabelId, std::pair<double, double>> sums;  // calls and ms a period
    for (const loop::Culprit& c : culprits(trace, *r.loop, pytorch::merged(std::move(list)))) {
      const double n = static_cast<double>(periods.size());
      sums[c.label] = {c.count / n, static_cast<double>(c.inside_ps) / 1e9 / n};
    }
    return sums;
  };
  const auto here = counted(r.rhythm.outliers), there = counted(r.rhythm.usual);
  std::string name;
  double most = 0, calls = 0, before = 0;
  for (const auto& [label, sum] : here) {
    const std::string_view text = trace.text(trace.labels()[label].name);
    const bool op = text.starts_with("aten::") || text.starts_with("EagerLocalExecute: ") ||
                    text.starts_with("PjitFunction(");
    const auto known = there.find(label);
    const auto old = known == there.end() ? std::pair<double, double>{} : known->second;
    if (!op || sum.second - old.second <= most || sum.first < 1.5 * old.first) continue;
    most = sum.second - old.second;
    calls = sum.first;
    before = old.first;
    name = text;
  }
  if (name.empty()) return "additional operations (evaluate() or predict(), most likely)";
  return fmt::format(
      "additional operations ({:.0f} {} instead of {:.0f}; evaluate() or predict(), most likely)",
      calls, name, before);
}

std::string what_it_does(const Extra& e, const Only& only) {
  if (!only.name.empty()) return only.name;
  switch (e.act) {
    case Act::kInput:
      return "waiting for input";
    case Act::kCompile:
      return "tracing and compiling";
    case Act::kCheckpoint:
      return "saving a checkpoint";
    case Act::kCallback:
      return "a callback into Python";
    case Act::kPython:
      return "Python";
    case Act::kUnrecorded:
      return "Python that was not recorded";
    case Act::kCommunication:
      return "communication";
    default:
      return "";
  }
}

void first_step(Rules& r, const Extra& e) {
  const double first = static_cast<double>(r.loop->periods[0].of(e.act)) / 1e9;
  if (e.act == Act::kInput) {
    const double share =
        100 * ratio(first, r.rhythm.mean_ms * static_cast<double>(r.loop->periods.size()));
    Finding f = make("IN-FIRST-STEP", true, Severity::kMajor);
    f.text = fmt::format(
        "{:.0f} ms of the first step wait for the first batch ({:.0f}% of the time of all {} "
        "steps), "
        "{:.2f} ms of a usual one: a shuffle buffer fills or files are opened. It happens once.",
        first, share, r.loop->periods.size(), r.usual_ms(Act::kInput));
    f.action =
        "Leave the first step out of averages. To shorten it: a smaller buffer_size of shuffle(), "
        "or "
        "shuffle the file names and not the elements.";
    f.diff =
        "-dataset = dataset.map(fn).shuffle(N)\n+dataset = dataset.shuffle(N).map(fn)   # "
        "shuffle what is small, before the work";
    if (r.loop->jax || r.loop->pytorch) f.diff.clear();
    if (r.loop->pytorch) {
      f.text = fmt::format(
          "{:.0f} ms of the first step wait for the first batch ({:.0f}% of the time of all {} "
          "steps), {:.2f} ms of a usual one: worker processes start or files are opened. It "
          "happens "
          "once an epoch at most.",
          first, share, r.loop->periods.size(), r.usual_ms(Act::kInput));
      f.action =
          "Leave the first step out of averages; persistent_workers=True keeps the workers of a "
          "DataLoader from one epoch to the next.";
    }
    f.numbers = {{"first_ms", first}, {"median_ms", r.usual_ms(Act::kInput)}};
    gain(f, first / static_cast<double>(r.loop->periods.size()), r.rhythm.mean_ms);
    f.text = f.text.substr(0, f.text.find(" Without it"));
    r.found.push_back(std::move(f));
    return;
  }
  const Only only = only_there(r, e.ms);
  std::string what = what_it_does(e, e.act == Act::kCompile ? Only{} : only);
  if (e.act == Act::kCompile && !only.name.empty()) what += fmt::format(" ({})", only.name);
  const bool explained = e.act == Act::kCompile || !only.name.empty();
  Finding f = make("FIRST-STEP", true, explained ? Severity::kMinor : Severity::kInfo);
  f.text = fmt::format(
      "The first step takes {:.{}f} ms longer than a usual one{}; that is {:.0f}% of the time of "
      "all {} steps, and happens once.",
      e.ms, e.ms < 10 ? 1 : 0, what.empty() ? "" : ": " + what, 100 * r.rhythm.extra_share,
      r.loop->periods.size());
  f.action = "It is a warm-up: start the capture some steps later, or leave it out of averages.";
  f.numbers = {{"first_ms", first}};
  f.evidence = {{"trace_viewer", only.name.substr(0, only.name.find(' '))}};
  if (explained) f.gain_ps = static_cast<int64_t>(r.rhythm.extra_share * r.rhythm.mean_ms * 1e9);
  r.found.push_back(std::move(f));
}

// Batches that come late every so many steps: a buffer fills again, files are opened, or a round of
// workers is through.
void late_batches(Rules& r, Finding& f, const Extra& e) {
  f.action =
      "A buffer is filled again, files are opened or workers start: keep them from one epoch to "
      "the next, and read ahead, so that the wait is spread over the steps before it.";
  f.diff = r.loop->pytorch ? "+loader = DataLoader(..., num_workers=4, persistent_workers=True, "
                             "prefetch_factor=4)"
                           : "";
  const std::string stage = r.loop->pytorch ? "" : slow_stage(r, f);
  f.text = fmt::format(
      "{:.1f} ms of waiting for input in {}{}, {:.0f}% of all time; a usual step takes {:.1f} ms, "
      "{:.1f} of them waiting.",
      e.act_whole_ms, places(r), stage.empty() ? "" : "; the stage that is too slow is " + stage,
      100 * r.rhythm.extra_share, r.rhythm.usual_ms, r.usual_ms(Act::kInput));
  if (!stage.empty()) {
    f.action +=
        " A shuffle buffer that is filled again in each epoch: repeat() before shuffle(), or a "
        "smaller buffer_size; prefetch() at the end makes batches ahead.";
    if (f.diff.find("prefetch") == std::string::npos)
      f.diff += "\n+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
  }
  f.numbers = {{"ms", e.act_whole_ms},
               {"steps", static_cast<double>(r.rhythm.outliers.size())},
               {"every", static_cast<double>(r.rhythm.every)}};
  if (f.fired) f.gain_ps = static_cast<int64_t>(r.rhythm.extra_share * r.rhythm.mean_ms * 1e9);
  r.found.push_back(std::move(f));
}

// A new shape or number every so many steps.
void compiles_again(Rules& r, Finding& f, const Extra& e) {
  const std::string function = advise_compile(r, f);
  f.text = fmt::format(
      "{:.1f} ms of tracing and compiling{} in {}, {:.0f}% of all time; a usual step takes {:.1f} "
      "ms.",
      e.act_whole_ms, function.empty() ? "" : " the function " + function, places(r),
      100 * r.rhythm.extra_share, r.rhythm.usual_ms);
  f.numbers = {{"ms", e.act_whole_ms},
               {"steps", static_cast<double>(r.rhythm.outliers.size())},
               {"every", static_cast<double>(r.rhythm.every)}};
  f.evidence = {{"trace_viewer", function}};
  if (f.fired) f.gain_ps = static_cast<int64_t>(r.rhythm.extra_share * r.rhythm.mean_ms * 1e9);
  r.found.push_back(std::move(f));
}

}  // namespace

void periodic(Rules& r) {
  if (!r.loop || r.loop->nothing_ran || r.rhythm.outliers.empty() || r.loop->periods.size() < 4)
    return;
  const Extra e = extra_of(r);
  if (r.rhythm.first_only) {
    if (r.rhythm.extra_share >= kWorthSaying) first_step(r, e);
    return;
  }
  const Only only = only_there(r, e.ms);
  // Two steps that were held up look like a rhythm, too.
  const bool even = r.rhythm.every > 0 && (alike(r) || r.rhythm.outliers.size() >= kNoAccident);
  const bool held_up = e.act == Act::kUnrecorded || e.act == Act::kInput || e.act == Act::kPython ||
                       e.act == Act::kOpByOp;
  const bool known = !only.name.empty() || r.rhythm.more_work ||
                     (e.act_ms >= kMostOfIt * e.ms && e.act != Act::kCompute && (even || !held_up));
  const bool fired = r.rhythm.extra_share >= kWorthSaying;
  Finding f = make("PERIODIC", fired, known ? Severity::kMajor : Severity::kInfo);
  std::string what = known ? what_it_does(e, only) : "";
  double each = only.name.empty() ? (known ? e.act_whole_ms : e.ms) : only.ms;
  if (only.name.empty() && r.rhythm.more_work &&
      (e.act == Act::kCompute || e.act == Act::kOpByOp || e.act == Act::kUnrecorded ||
       e.act == Act::kPython)) {
    what = more_operations(r);
    each = e.ms;
  }
  f.text = fmt::format("{:.1f} ms{} in {}, {:.0f}% of all time; a usual step takes {:.1f} ms.",
                       each, what.empty() ? " more" : " of " + what, places(r),
                       100 * r.rhythm.extra_share, r.rhythm.usual_ms);
  if (e.act == Act::kInput && known) {
    late_batches(r, f, e);
    return;
  }
  if (e.act == Act::kCompile && known) {
    compiles_again(r, f, e);
    return;
  }
  const bool saves = e.act == Act::kCheckpoint || only.purpose == loop::Purpose::kSaves;
  f.action = !known
                 ? "The same operations took longer in these steps: other programs on the machine, "
                   "or the profiler; look at one of them in the trace viewer."
             : saves ? "Save less often, or in the background while the next steps run."
             : only.purpose == loop::Purpose::kEvaluates
                 ? "Evaluate less often or on fewer batches, or in another process; measure the "
                   "training steps apart from it."
                 : "Do it less often, on less data, or in a background process; measure the usual "
                   "steps apart from it.";
  f.numbers = {{"ms", each},
               {"steps", static_cast<double>(r.rhythm.outliers.size())},
               {"every", static_cast<double>(r.rhythm.every)}};
  f.evidence = {{"trace_viewer", only.name.substr(0, only.name.find(' '))}};
  if (fired && known) {
    f.gain_ps = static_cast<int64_t>(r.rhythm.extra_share * r.rhythm.mean_ms * 1e9);
    f.text += fmt::format(" Without it a step would take {:.1f} ms on average instead of {:.1f}.",
                          (1 - r.rhythm.extra_share) * r.rhythm.mean_ms, r.rhythm.mean_ms);
  }
  r.found.push_back(std::move(f));
}

}  // namespace sonde::capture::findings
