// Tools about curves: what there is, exact values, summaries, changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "api/mcp/tool.h"
#include "api/v1/support.h"
#include "base/regex.h"
#include "base/strings.h"
#include "log/query/series/shape.h"

namespace sonde::api::mcp {
namespace {

using query::Points;
using store::RunSnapshot;
using store::Series;
using store::View;

constexpr size_t kMostChanges = 12, kMostSpikes = 12;

// A number as it was logged: a float32 is not printed with the digits of its double.
void append_value(std::string& out, const Series& series, double value) {
  JsonWriter json(out);
  if (series.value_type() == store::ValueType::kFloat32)
    json.number(static_cast<float>(value));
  else
    json.number(value);
}

std::string summary_json(const Series& series, const query::CurveSummary& s) {
  std::string out =
      fmt::format(R"({{"points":{},"steps":[{},{}],"first":)", s.points, s.first_step, s.last_step);
  append_value(out, series, s.first);
  out += ",\"last\":";
  append_value(out, series, s.last);
  out += ",\"min\":";
  append_value(out, series, s.min);
  out += fmt::format(",\"min_step\":{},\"max\":", s.min_step);
  append_value(out, series, s.max);
  out += fmt::format(",\"max_step\":{},\"mean\":", s.max_step);
  append_json_number(out, s.mean);
  out += fmt::format(",\"seconds\":{:.3f}", s.last_wall - s.first_wall);
  if (s.not_finite > 0)
    out += fmt::format(",\"not_finite\":{},\"first_not_finite_step\":{}", s.not_finite,
                       *s.first_not_finite);
  out += "}";
  return out;
}

Result<std::string> overview(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  std::map<std::string, size_t> kinds;
  std::map<std::string, size_t> tags;  // scalar tags and in how many runs
  uint64_t points = 0, damaged = 0, alive = 0;
  double last = 0;
  for (const auto& run : snapshot->runs) {
    points += run->points;
    damaged += run->damage.size();
    alive += run->has_events ? 1 : 0;
    if (std::isfinite(run->last_wall_time)) last = std::max(last, run->last_wall_time);
    for (const auto& series : run->series) {
      ++kinds[std::string(v1::kind_of(*series))];
      if (series->is_scalar()) ++tags[to_utf8(series->tag())];
    }
  }
  const auto sessions = ask(call.context, "GET", "profile/sessions", {}, "");
  std::string out = fmt::format(
      R"({{"runs":{},"points":{},"last_written":{:.0f},"damaged_places":{},"profiles":{},"series_by_kind":{{)",
      snapshot->runs.size(), points, last, damaged, sessions ? sessions->items.size() : 0);
  bool first = true;
  for (const auto& [kind, count] : kinds) {
    out += fmt::format("{}\"{}\":{}", first ? "" : ",", kind, count);
    first = false;
  }
  out += "},\"example_runs\":[";
  for (size_t i = 0; i < std::min<size_t>(5, snapshot->runs.size()); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, snapshot->runs[i]->name);
  }
  out += "],";
  if (snapshot->progress.loading) out += "\"loading\":true,";
  RowsAnswer rows({"scalar_tag", "runs"}, call.budget_bytes);
  rows.note(out.substr(1, out.size() - 2));
  for (const auto& [tag, count] : tags) {
    std::string row = "[";
    append_json_string(row, tag);
    rows.add(row + fmt::format(",{}]", count));
  }
  return rows.finish(tags.size(), "list_tags with a filter shows the rest");
}

Result<std::string> list_tags(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  SONDE_TRY(filter, call.text("filter"));
  SONDE_TRY(regex, Regex::compile(filter));
  SONDE_TRY(run_name, call.text("run"));
  if (!run_name.empty() && !snapshot->find(run_name))
    return fail(Code::kNotFound, fmt::format("there is no run '{}'", run_name));
  struct Found {
    size_t runs = 0;
    uint64_t points = 0;
  };
  std::map<std::pair<std::string, std::string>, Found> tags;
  for (const auto& run : snapshot->runs) {
    if (!run_name.empty() && run->name != run_name) continue;
    for (const auto& series : run->series) {
      const std::string tag = to_utf8(series->tag());
      if (!filter.empty() && !regex.found_in(tag)) continue;
      Found& found = tags[{tag, std::string(v1::kind_of(*series))}];
      ++found.runs;
      found.points += series->size(View::kNewest);
    }
  }
  RowsAnswer rows({"tag", "kind", "runs", "points"}, call.budget_bytes);
  for (const auto& [key, found] : tags) {
    std::string row = "[";
    append_json_string(row, key.first);
    rows.add(row + fmt::format(",\"{}\",{},{}]", key.second, found.runs, found.points));
  }
  return rows.finish(tags.size(), "give a filter (regular expression) or more max_tokens");
}

// Every point while they fit, else the extremes and the last of equal parts: nothing that stands
// out is lost, and the answer says that it was thinned.
std::string series_json(const Series& series, const Points& points, size_t begin, size_t end,
                        size_t budget) {
  constexpr size_t kBytesPerPoint = 24, kBytesPerPart = 60;
  const size_t count = end - begin;
  std::string out;
  if (count * kBytesPerPoint <= budget) {
    out = "\"exact\":true,\"points\":[";
    for (size_t i = begin; i < end; ++i) {
      out += fmt::format("{}[{},", i > begin ? "," : "", points.steps[i]);
      append_value(out, series, points.values[i]);
      out += ']';
    }
    return out + "]";
  }
  const size_t parts = std::clamp<size_t>(budget / kBytesPerPart, 4, count);
  out = fmt::format(
      R"("exact":false,"thinned":"{} points in {} equal parts: last step, min, max and last value of each; narrow 'steps' for exact points","parts":[)",
      count, parts);
  for (size_t p = 0; p < parts; ++p) {
    const size_t a = begin + count * p / parts, b = begin + count * (p + 1) / parts;
    double low = std::nan(""), high = low;
    for (size_t i = a; i < b; ++i) {
      if (!std::isfinite(points.values[i])) continue;
      if (!(points.values[i] >= low)) low = points.values[i];
      if (!(points.values[i] <= high)) high = points.values[i];
    }
    out += fmt::format("{}[{},", p > 0 ? "," : "", points.steps[b - 1]);
    append_value(out, series, low);
    out += ',';
    append_value(out, series, high);
    out += ',';
    append_value(out, series, points.values[b - 1]);
    out += ']';
  }
  return out + "]";
}

Result<std::pair<size_t, size_t>> steps_in(const Call& call, const Points& points) {
  const JsonValue* steps = call.arguments.find("steps");
  if (!steps) return std::pair<size_t, size_t>{0, points.size()};
  if (!steps->is_array() || steps->items.size() != 2 || !steps->items[0].integer() ||
      !steps->items[1].integer())
    return fail(Code::kInvalid, "'steps' must be [first, last]");
  const Step low = *steps->items[0].integer(), high = *steps->items[1].integer();
  // Steps of a series may go back; what lies between the first and the last that fit is shown.
  size_t begin = points.size(), end = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points.steps[i] < low || points.steps[i] > high) continue;
    begin = std::min(begin, i);
    end = i + 1;
  }
  if (begin >= end) return fail(Code::kNotFound, fmt::format("no step from {} to {}", low, high));
  return std::pair{begin, end};
}

Result<std::string> query_series(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  SONDE_TRY(tag, call.text("tag"));
  SONDE_TRY(runs, runs_of(call, *snapshot));
  SONDE_TRY(detail, call.text("detail", "auto"));
  std::vector<std::pair<const RunSnapshot*, const Series*>> found;
  for (const RunSnapshot* run : runs) {
    const Series* series = run->find(tag);
    if (series && series->is_scalar()) found.emplace_back(run, series);
  }
  if (found.empty())
    return fail(Code::kNotFound, fmt::format("no such run has a scalar tag '{}'; list_tags shows "
                                             "what there is",
                                             tag));
  constexpr size_t kSummaryBytes = 260;
  const bool wants_points = detail != "summary" && (detail == "points" || found.size() <= 3);
  const size_t shown =
      std::min(found.size(), std::max<size_t>(1, call.budget_bytes / kSummaryBytes));
  std::string out = "{\"tag\":";
  append_json_string(out, tag);
  out += ",\"runs\":[";
  size_t written = 0;
  for (; written < shown; ++written) {
    const auto& [run, series] = found[written];
    const Points points = points_of(*series);
    SONDE_TRY(part, steps_in(call, points));
    Points inside;
    inside.steps.assign(points.steps.begin() + part.first, points.steps.begin() + part.second);
    inside.walls.assign(points.walls.begin() + part.first, points.walls.begin() + part.second);
    inside.values.assign(points.values.begin() + part.first, points.values.begin() + part.second);
    std::string one = "{\"run\":";
    append_json_string(one, run->name);
    one += ",\"summary\":" + summary_json(*series, query::summary_of(inside));
    if (wants_points) {
      const size_t share = call.budget_bytes / shown;
      const size_t left = share > one.size() + 200 ? share - one.size() - 200 : 0;
      one += "," + series_json(*series, inside, 0, inside.size(), left);
    }
    if (series->size() != series->size(View::kNewest))
      one += fmt::format(",\"superseded_by_restarts\":{}",
                         series->size() - series->size(View::kNewest));
    if (written > 0 && out.size() + one.size() + 150 > call.budget_bytes) break;
    out += (written > 0 ? "," : "") + one + "}";
  }
  out += "]";
  if (written < found.size())
    out += fmt::format(
        R"(,"left_out":"{} of {} runs are left out; name runs, use compare_runs, or raise max_tokens")",
        found.size() - written, found.size());
  return out + "}";
}

Result<std::string> find_changes(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  SONDE_TRY(tag, call.text("tag"));
  SONDE_TRY(runs, runs_of(call, *snapshot));
  std::string out = "{\"tag\":";
  append_json_string(out, tag);
  out += ",\"runs\":[";
  size_t written = 0, left = 0;
  for (const RunSnapshot* run : runs) {
    const Series* series = run->find(tag);
    if (!series || !series->is_scalar()) continue;
    const Points points = points_of(*series);
    const query::CurveSummary summary = query::summary_of(points);
    std::string one = "{\"run\":";
    append_json_string(one, run->name);
    one += ",\"changes\":[";
    bool first = true;
    for (const query::ChangePoint& change : query::change_points(points.values, kMostChanges)) {
      one += fmt::format(
          R"({}{{"step":{},"kind":"{}","before":{:.6g},"after":{:.6g},"slope_before":{:.3g},"slope_after":{:.3g}}})",
          first ? "" : ",", points.steps[change.index], change.is_jump ? "jump" : "bend",
          change.before, change.after, change.slope_before, change.slope_after);
      first = false;
    }
    one += "],\"spikes\":[";
    first = true;
    for (const query::Spike& spike : query::spikes(points.values, 8, kMostSpikes)) {
      one += fmt::format(R"({}{{"step":{},"value":{:.6g},"expected":{:.6g},"z":{:.3g}}})",
                         first ? "" : ",", points.steps[spike.index], spike.value, spike.expected,
                         spike.z);
      first = false;
    }
    one += "]";
    if (summary.not_finite > 0)
      one += fmt::format(R"(,"not_finite":{},"first_not_finite_step":{})", summary.not_finite,
                         *summary.first_not_finite);
    if (points.size() > 4096)
      one += fmt::format(R"(,"resolution":"places are exact to {} points")",
                         (points.size() + 4095) / 4096);
    one += "}";
    if (written > 0 && out.size() + one.size() + 120 > call.budget_bytes) {
      ++left;
      continue;
    }
    out += (written++ > 0 ? "," : "") + one;
  }
  if (written == 0)
    return fail(Code::kNotFound, fmt::format("no such run has a scalar tag '{}'", tag));
  out += "]";
  if (left > 0)
    out +=
        fmt::format(R"(,"left_out":"{} runs are left out; name runs or raise max_tokens")", left);
  return out + "}";
}

constexpr std::string_view kSeriesSchema =
    R"("tag":{"type":"string"},"runs":{"type":"array","items":{"type":"string"},"description":"names of runs, all unless given"},"filter":{"type":"string","description":"regular expression over run names"},"steps":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,"description":"[first, last]"},"detail":{"enum":["auto","summary","points"],"description":"auto: points for up to three runs"})";

constexpr std::string_view kChangeSchema =
    R"("tag":{"type":"string"},"runs":{"type":"array","items":{"type":"string"}},"filter":{"type":"string","description":"regular expression over run names"})";

constexpr Tool kTools[] = {
    {"overview", "Overview",
     "What the log directory holds: number of runs, points, profiles, damage, and every scalar tag "
     "with the number of runs that have it. Ask this first.",
     "", "", overview},
    {"list_tags", "Tags", "Tags with kind (scalar, image, text, histogram …), runs and points.",
     R"("filter":{"type":"string","description":"regular expression over tags"},"run":{"type":"string"})",
     "", list_tags},
    {"query_series", "Values of a scalar",
     "Exact values of a scalar tag: a summary (first, last, min and max with their steps, mean, "
     "NaN count) of each run and its points. Points that do not fit the budget are thinned to "
     "min, max and last of equal parts, and the answer says so.",
     kSeriesSchema, R"(["tag"])", query_series},
    {"find_changes", "Changes and spikes",
     "Where a curve jumps, bends or spikes, and where it first is NaN.", kChangeSchema,
     R"(["tag"])", find_changes},
};

}  // namespace

std::span<const Tool> log_tools() { return kTools; }

}  // namespace sonde::api::mcp
