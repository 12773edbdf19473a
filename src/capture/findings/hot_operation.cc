// What computes: conversions and copies of tensors that take much of a step, and, as a note, the
// operation that takes most where nothing else holds the step up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;
using loop::Ranges;

constexpr double kConversionShare = 0.2;  // of a period
constexpr double kHotShare = 0.4;         // of what runs
constexpr double kHotOfStep = 0.05;       // of a period

// PyTorch's operators that only move or convert; one may be inside the other.
constexpr std::array<std::string_view, 7> kConversions = {
    "aten::to",         "aten::_to_copy", "aten::copy_",     "aten::clone",
    "aten::contiguous", "aten::type_as",  "aten::_copy_from"};

bool is_conversion(std::string_view name) {
  return std::ranges::find(kConversions, name) != kConversions.end();
}

void conversions(Rules& r) {
  if (!r.loop->pytorch || r.loop->has_device) return;
  const trace::Trace& trace = r.pace->trace();
  const trace::Track& track = trace.tracks()[r.loop->thread];
  std::vector<bool> wanted;  // by label
  for (const trace::Label& label : trace.labels())
    wanted.push_back(is_conversion(trace.text(label.name)));
  Ranges spans;
  std::map<std::string_view, int64_t> by_name;  // outermost ones
  uint32_t count = 0;
  int64_t covered = INT64_MIN;
  for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
    if (!wanted[trace.label_id(s)] || begin < covered) continue;
    covered = end;
    pytorch::append(spans, {begin, end});
    by_name[trace.name(s)] += end - begin;
    ++count;
  }
  if (spans.empty()) return;
  std::vector<double> each;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    each.push_back(static_cast<double>(pytorch::total_inside(spans, {p.begin, p.end})) / 1e9);
  }
  const double ms = r.typical(std::move(each));
  const double share = ratio(ms, r.rhythm.usual_ms);
  const auto most = std::max_element(by_name.begin(), by_name.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  Finding f = make("CONVERT", r.enough && share >= kConversionShare, Severity::kMajor);
  f.text = fmt::format(
      "{} copy tensors or convert them from one type to another ({} calls a step, "
      "most of it {}).",
      r.of_step(ms), count / std::max<size_t>(1, r.loop->periods.size()), most->first);
  f.action =
      "Convert once, not in every step: keep the data in the type and layout the model computes in "
      "(store it as float32 or bfloat16, dtype= where it is made), and leave out clone() and "
      "contiguous() that nobody needs.";
  f.diff =
      "-x = stored.double().float()\n+stored = stored.float()   # once, before the loop\n+x = "
      "stored";
  f.numbers = {{"ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"torch.operator", std::string(most->first)}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

// Time of the innermost slices by name, on the threads that compute.
std::map<std::string_view, int64_t> innermost(const Rules& r) {
  const trace::Trace& trace = r.pace->trace();
  const int64_t from = r.loop->periods.front().begin, to = r.loop->periods.back().end;
  std::vector<bool> work;  // by label
  for (const trace::Label& label : trace.labels()) {
    const std::string_view name = trace.text(label.name);
    work.push_back(r.loop->pytorch ? name.starts_with("aten::") || name.starts_with("mkldnn::")
                                   : loop::word_of(name) == loop::Word::kCall &&
                                         name.find("::") == std::string_view::npos &&
                                         loop::is_framework_call(name) == false);
  }
  std::map<std::string_view, int64_t> out;
  for (trace::TrackId t = 0; t < trace.tracks().size(); ++t) {
    const trace::Track& track = trace.tracks()[t];
    const loop::Pool pool = loop::pool_of(trace.track_name(t));
    if (track.kind != trace::TrackKind::kThread || pool == loop::Pool::kTfData ||
        pool == loop::Pool::kCompiler || (!r.loop->pytorch && t == r.loop->thread))
      continue;
    const trace::SliceId last = track.first_slice + track.slices;
    for (trace::SliceId s = track.first_slice; s < last; ++s) {
      const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
      if (!work[trace.label_id(s)] || begin < from || end > to) continue;
      if (s + 1 < last && trace.begin(s + 1).value < end) continue;
      out[trace.name(s)] += end - begin;
    }
  }
  return out;
}

void hottest(Rules& r) {
  if (r.loop->has_device || r.usual_ms(Act::kCompute) < 0.5 * r.rhythm.usual_ms) return;
  int64_t all = 0;
  std::pair<std::string_view, int64_t> most{};
  for (const auto& [name, ps] : innermost(r)) {
    all += ps;
    if (ps > most.second) most = {name, ps};
  }
  const double share = ratio(static_cast<double>(most.second), static_cast<double>(all));
  const double ms =
      static_cast<double>(most.second) / 1e9 / static_cast<double>(r.loop->periods.size());
  // Of operations that take next to nothing of a step, the largest says nothing.
  if (share < kHotShare || ms < kHotOfStep * r.rhythm.usual_ms) return;
  Finding f = make("HOT-OP", true, Severity::kInfo);
  f.text = fmt::format("The operation {} takes {:.0f}% of the computing, {:.1f} ms a step.",
                       most.first, 100 * share, ms);
  f.action =
      "If it belongs to the model, the step computes as it should: smaller sizes, a cheaper "
      "operation or 16 bits shorten it. If it is bookkeeping, do it less often.";
  f.numbers = {{"ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", std::string(most.first)}};
  r.found.push_back(std::move(f));
}

}  // namespace

void hot_operations(Rules& r) {
  if (!r.loop || r.loop->nothing_ran || r.loop->periods.size() < kEnoughSteps) return;
  conversions(r);
  hottest(r);
}

}  // namespace sonde::capture::findings
