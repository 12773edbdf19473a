#include "capture/export/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "capture/export/steps.h"

namespace sonde::exports {
namespace {

int64_t median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const int64_t upper = *middle;
  return std::max_element(values.begin(), middle)[0] / 2 + upper / 2;
}

bool has_clock(const Run& run) { return run.clock_ns.has_value(); }

// Ends of collectives by (name, how often it occurred before), which all ranks share.
std::map<std::pair<std::string_view, uint32_t>, int64_t> collective_ends(const Run& run) {
  std::map<std::pair<std::string_view, uint32_t>, int64_t> ends;
  std::map<std::string_view, uint32_t> seen;
  std::vector<std::pair<int64_t, trace::SliceId>> order;
  for (const trace::Track& track : run.trace->tracks()) {
    if (track.kind == trace::TrackKind::kAggregate) continue;
    for (uint32_t i = 0; i < track.slices; ++i) {
      const trace::SliceId s = track.first_slice + i;
      const std::string_view name = run.trace->name(s);
      if (name.find("nccl") != std::string_view::npos ||
          name.find("rccl") != std::string_view::npos ||
          name.find("gloo:") != std::string_view::npos)
        order.emplace_back(run.trace->begin(s).value, s);
    }
  }
  std::sort(order.begin(), order.end());
  for (const auto& [begin, s] : order) {
    const std::string_view name = run.trace->name(s);
    ends[{name, seen[name]++}] = run.trace->end(s).value;
  }
  return ends;
}

struct Alignment {
  std::string rule = "auto";
  std::vector<std::pair<std::string, int64_t>> offsets;  // run name, ps
};

Result<Alignment> alignment_of(const Options& options) {
  Alignment out;
  for (const std::string& word : options.align) {
    const size_t equals = word.rfind('=');
    if (equals != std::string::npos) {
      SONDE_TRY(offset, parse_time_ps(std::string_view(word).substr(equals + 1)));
      out.offsets.emplace_back(word.substr(0, equals), offset);
    } else if (word == "auto" || word == "clock" || word == "start" || word == "step" ||
               word == "sync") {
      out.rule = word;
    } else {
      return fail(
          Code::kInvalid,
          fmt::format("--align is auto, clock, start, step, sync or NAME=OFFSET, not '{}'", word));
    }
  }
  return out;
}

// Offsets so that the first run keeps its times and the others fit to it.
Result<void> align(std::span<const Run> runs, std::string rule, Axis& axis) {
  const bool all_clocks = std::all_of(runs.begin(), runs.end(), has_clock);
  if (rule == "auto") rule = all_clocks ? "clock" : "start";
  if (rule == "clock") {
    if (!all_clocks)
      return fail(Code::kInvalid,
                  "--align clock needs captures that recorded the wall clock; --align start does "
                  "not");
    axis.base_ns = INT64_MAX;
    for (const Run& run : runs) axis.base_ns = std::min(axis.base_ns, *run.clock_ns);
    for (size_t i = 0; i < runs.size(); ++i) {
      const int64_t late_ns = *runs[i].clock_ns - axis.base_ns;
      if (late_ns > INT64_MAX / 2000)
        return fail(Code::kInvalid,
                    fmt::format("{} lies {} days after the first run; --layout sequence or --align "
                                "start sets them side by side",
                                runs[i].name, late_ns / 86'400'000'000'000));
      axis.places[i].offset_ps = late_ns * 1000;
    }
    axis.rule = "common clock";
    return {};
  }
  if (rule == "start") {
    for (size_t i = 0; i < runs.size(); ++i)
      axis.places[i].offset_ps = runs[0].begin().value - runs[i].begin().value;
    axis.rule = "start to start";
    return {};
  }
  if (rule == "step") {
    std::vector<int64_t> starts;
    for (const Run& run : runs) {
      const auto steps = steps_of(run);
      if (steps.empty())
        return fail(
            Code::kInvalid,
            fmt::format("--align step: {} has no steps; --align start does without", run.name));
      starts.push_back(steps.front().begin);
    }
    for (size_t i = 0; i < runs.size(); ++i) axis.places[i].offset_ps = starts[0] - starts[i];
    axis.rule = "first step";
    return {};
  }
  const auto reference = collective_ends(runs[0]);
  for (size_t i = 1; i < runs.size(); ++i) {
    std::vector<int64_t> differences;
    for (const auto& [key, end] : collective_ends(runs[i])) {
      if (const auto found = reference.find(key); found != reference.end())
        differences.push_back(found->second - end);
    }
    if (differences.empty())
      return fail(Code::kInvalid, fmt::format("--align sync: {} and {} share no collective",
                                              runs[0].name, runs[i].name));
    axis.places[i].offset_ps = median(std::move(differences));
  }
  axis.rule = "ends of shared collectives";
  return {};
}

}  // namespace

Result<Axis> place(std::span<const Run> runs, const Options& options) {
  Axis axis;
  axis.places.resize(runs.size());
  SONDE_TRY(alignment, alignment_of(options));
  if (options.layout == "stack") {
    for (size_t i = 0; i < runs.size(); ++i) axis.places[i].offset_ps = -runs[i].begin().value;
    axis.rule = "every run at 0";
  } else if (options.layout == "sequence") {
    int64_t all = 0;
    for (const Run& run : runs) all += run.span_ps() / static_cast<int64_t>(runs.size());
    const int64_t gap = all * static_cast<int64_t>(runs.size()) / 50;
    int64_t at = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      axis.places[i].offset_ps = at - runs[i].begin().value;
      at += runs[i].span_ps() + gap;
    }
    axis.rule = "one after another";
  } else if (auto aligned = align(runs, alignment.rule, axis); !aligned) {
    return fail(std::move(aligned).error());
  }
  for (const auto& [name, offset] : alignment.offsets) {
    bool known = false;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].name != name && runs[i].source != name) continue;
      axis.places[i].offset_ps += offset;
      known = true;
    }
    if (!known) return fail(Code::kInvalid, fmt::format("--align: there is no run '{}'", name));
  }
  return axis;
}

std::vector<RunFacts> judge(std::span<const Run> runs) {
  std::vector<RunFacts> facts(runs.size());
  if (runs.size() < 2) return facts;
  std::vector<int64_t> others, all;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) others.push_back(runs[i].span_ps());
    all.push_back(runs[i].span_ps());
  }
  facts[0].is_warmup =
      static_cast<double>(runs[0].span_ps()) > 1.5 * static_cast<double>(median(others));
  if (runs.size() < 4) return facts;
  const std::vector<int64_t>& judged = facts[0].is_warmup ? others : all;
  const int64_t middle = median(judged);
  std::vector<int64_t> deviations;
  for (const int64_t span : judged) deviations.push_back(std::abs(span - middle));
  const int64_t limit = middle + 5 * median(std::move(deviations));
  for (size_t i = facts[0].is_warmup ? 1 : 0; i < runs.size(); ++i)
    facts[i].is_outlier = runs[i].span_ps() > limit;
  return facts;
}

std::string human_time(double ps) {
  struct Unit {
    double size;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
  for (const Unit& unit : kUnits) {
    if (std::abs(ps) >= unit.size) {
      const double value = ps / unit.size;
      const int digits = std::abs(value) >= 100 ? 1 : std::abs(value) >= 10 ? 2 : 3;
      return fmt::format("{:.{}f} {}", value, digits, unit.name);
    }
  }
  return ps == 0 ? "0" : fmt::format("{:.0f} ps", ps);
}

Result<int64_t> parse_time_ps(std::string_view text) {
  const std::string_view all = trimmed(text);
  std::string_view digits = all.starts_with('+') ? all.substr(1) : all;
  double value;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view unit =
      trimmed({parsed.ptr, static_cast<size_t>(digits.data() + digits.size() - parsed.ptr)});
  const double scale = unit.empty() || unit == "us" || unit == "µs" ? 1e6
                       : unit == "ns"                               ? 1e3
                       : unit == "ms"                               ? 1e9
                       : unit == "s"                                ? 1e12
                       : unit == "ps"                               ? 1
                                                                    : 0;
  if (parsed.ec != std::errc() || scale == 0 || !(std::abs(value * scale) < 1e18))
    return fail(Code::kInvalid, fmt::format("'{}' is no time; write 250us, 3.5ms, 1s", all));
  return static_cast<int64_t>(std::llround(value * scale));
}

}  // namespace sonde::exports
