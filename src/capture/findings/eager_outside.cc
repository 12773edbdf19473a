// TensorFlow: operations that run eagerly beside a compiled step, however long each of them takes.
// Rows of small ones are told by op_by_op(); here one large one counts, too.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;
using loop::Ranges;
using loop::Word;

constexpr double kShare = 0.25;                      // of a period
constexpr double kMoreThanRows = 1.2;                // else the row says it
constexpr int64_t kPythonBetweenPs = 1'500'000'000;  // 1.5 ms from one operation to the next
constexpr int64_t kHeldUpPs = 5'000'000'000;         // 5 ms: where it is usually less
constexpr std::string_view kLocal = "EagerLocalExecute: ";

struct Outside {
  Ranges spans;
  std::map<std::string_view, int64_t> by_operation;
  uint32_t operations = 0;
  bool summaries = false;
};

Outside outside_of(const Rules& r) {
  Outside out;
  const trace::Trace& trace = r.pace->trace();
  const trace::Track& track = trace.tracks()[r.loop->thread];
  const int64_t from = r.loop->periods.front().begin, to = r.loop->periods.back().end;
  int64_t last = INT64_MIN, covered = INT64_MIN;
  trace::LabelId before = trace::kNone;
  // What usually lies between two operations tells a thread that lost its core from Python that is
  // always there.
  std::map<std::pair<trace::LabelId, trace::LabelId>, std::vector<double>> gaps;
  std::vector<std::pair<loop::Range, std::pair<trace::LabelId, trace::LabelId>>> pauses;
  for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
    const std::string_view name = trace.name(s);
    if (begin < from || begin >= to || begin < covered) continue;
    const Word word = loop::word_of(name);
    if (word == Word::kFunction || word == Word::kInput || word == Word::kCheckpoint ||
        word == Word::kCompile) {
      covered = end;
      last = INT64_MIN;  // what follows is no longer the same row
      continue;
    }
    if (!name.starts_with(kLocal) || word != Word::kCall) continue;
    const std::string_view operation = name.substr(kLocal.size());
    out.summaries |= operation.find("Summary") != std::string_view::npos;
    out.by_operation[operation] += end - begin;
    ++out.operations;
    if (last != INT64_MIN) {
      const auto pair = std::make_pair(before, trace.label_id(s));
      gaps[pair].push_back(static_cast<double>(begin - last));
      if (begin - last < kHeldUpPs) pauses.push_back({{last, begin}, pair});
    }
    pytorch::append(out.spans, {begin, end});
    last = std::max(last, end);
    before = trace.label_id(s);
    covered = end;
  }
  for (const auto& [pause, pair] : pauses) {
    if (pause.length() < kPythonBetweenPs ||
        loop::median(gaps[pair]) < static_cast<double>(kPythonBetweenPs))
      out.spans.push_back(pause);
  }
  out.spans = pytorch::merged(std::move(out.spans));
  for (const Act act : {Act::kInput, Act::kCompile, Act::kCheckpoint, Act::kCallback})
    out.spans = pytorch::difference(out.spans, r.loop->of(act));
  return out;
}

}  // namespace

bool eager_outside(Rules& r) {
  if (r.loop->jax || r.loop->pytorch || !r.loop->compiled) return false;
  const Outside out = outside_of(r);
  std::vector<double> each;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    each.push_back(static_cast<double>(pytorch::total_inside(out.spans, {p.begin, p.end})) / 1e9);
  }
  const double ms = r.typical(std::move(each)), share = ratio(ms, r.rhythm.usual_ms);
  if (share < kShare || ms < kMoreThanRows * r.usual_ms(Act::kOpByOp)) return false;
  const auto most = std::max_element(out.by_operation.begin(), out.by_operation.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const double periods = static_cast<double>(r.loop->periods.size());
  Finding f = make("EAGER", true, share >= 0.4 ? Severity::kCritical : Severity::kMajor);
  f.text = fmt::format(
      "{} run {:.0f} operations eagerly, outside of the compiled function{}; most of the time is "
      "{}, {:.1f} ms a step.",
      r.of_step(ms), out.operations / periods, out.summaries ? ", and write summaries" : "",
      most->first, static_cast<double>(most->second) / 1e9 / periods);
  f.action = out.summaries
                 ? "Write summaries less often (every 100 steps), and images and histograms least "
                   "of all; what is computed for them belongs into the tf.function."
                 : "Put them into the tf.function of the step, or do them less often.";
  f.diff = out.summaries ? "-tf.summary.image('x', x, step)\n+if step % 100 == 0:\n+    "
                           "tf.summary.image('x', x, step)"
                         : "+@tf.function\n def train_step(x, y):";
  f.numbers = {{"calls", out.operations / periods}, {"ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", std::string(most->first)}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
  return true;
}

}  // namespace sonde::capture::findings
