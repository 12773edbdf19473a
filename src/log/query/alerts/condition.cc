#include "log/query/alerts/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "log/query/series/shape.h"

namespace sonde::query {
namespace {

constexpr std::array<std::string_view, 6> kWords = {"nan",     "spike", "divergence",
                                                    "plateau", "stall", "throughput"};
constexpr std::array<std::string_view, 7> kWhats = {"last", "first", "min",  "max",
                                                    "mean", "step",  "count"};
constexpr size_t kWindow = 10;      // points whose median stands for a moment
constexpr size_t kLooked = 20'000;  // newest points that spikes are looked for in

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Result<Comparison> parse_comparison(std::string_view text) {
  text = trimmed(text);
  const size_t at = text.find_first_of("<>=!");
  if (at == text.npos || at == 0)
    return fail(Code::kInvalid,
                fmt::format("'{}' is not a comparison such as val/acc > 0.9", text));
  const bool is_long = at + 1 < text.size() && text[at + 1] == '=';
  Comparison out;
  out.op = text.substr(at, is_long ? 2 : 1);
  if (out.op == "=" || out.op == "!")
    return fail(Code::kInvalid, fmt::format("'{}': write ==, !=, <, <=, > or >=", text));
  const std::string number(trimmed(text.substr(at + out.op.size())));
  char* end = nullptr;
  out.number = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0')
    return fail(Code::kInvalid, fmt::format("'{}': '{}' is not a number", text, number));
  std::string_view tag = trimmed(text.substr(0, at));
  for (const std::string_view what : kWhats) {
    if (tag.size() > what.size() + 2 && tag.starts_with(what) && tag[what.size()] == '(' &&
        tag.back() == ')') {
      out.what = what;
      tag = trimmed(tag.substr(what.size() + 1, tag.size() - what.size() - 2));
      break;
    }
  }
  out.tag = tag;
  return out;
}

std::optional<double> value_of(const Comparison& part, const store::RunSnapshot& run) {
  const store::Series* series = run.find(part.tag);
  if (!series || !series->is_scalar()) return std::nullopt;
  const ViewReader reader(*series, store::View::kNewest);
  if (reader.size() == 0) return std::nullopt;
  Points points;
  const bool is_last = part.what == "last" || part.what == "step";
  reader.read(is_last ? reader.size() - 1 : 0, part.what == "first" ? 1 : reader.size(), points);
  if (part.what == "count") return static_cast<double>(reader.size());
  const CurveSummary summary = summary_of(points);
  if (part.what == "step") return static_cast<double>(summary.last_step);
  if (part.what == "first") return summary.first;
  if (part.what == "min") return summary.min;
  if (part.what == "max") return summary.max;
  if (part.what == "mean") return summary.mean;
  return summary.last;
}

bool compares(double a, std::string_view op, double b) {
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  return op == "==" ? a == b : a != b;
}

double window_median(const Points& points, size_t end) {
  std::vector<double> values;
  for (size_t i = end > kWindow ? end - kWindow : 0; i < end; ++i) {
    if (std::isfinite(points.values[i])) values.push_back(points.values[i]);
  }
  return median_of(std::move(values));
}

Fired at(const Points& points, size_t i, std::string text) {
  return {points.steps[i], points.walls[i], points.values[i], std::move(text)};
}

std::optional<Fired> diverges(const Points& points, const CurveLimits& limits) {
  if (points.size() < 3 * kWindow) return std::nullopt;
  const double sign = limits.higher_is_better ? -1 : 1;
  const double first = sign * window_median(points, kWindow);
  double best = first;
  size_t best_at = kWindow;
  for (size_t end = kWindow; end <= points.size(); end += std::max<size_t>(1, kWindow / 2)) {
    const double now = sign * window_median(points, end);
    if (now < best) best = now, best_at = end;
  }
  const double last = sign * window_median(points, points.size());
  if (!(first > best) || !(last > best + limits.factor * (first - best))) return std::nullopt;
  return at(points, points.size() - 1,
            fmt::format("was {:.4g} at step {} and is {:.4g} now", sign * best,
                        points.steps[best_at - 1], sign * last));
}

std::optional<Fired> stays(const Points& points, const CurveLimits& limits) {
  const size_t n = points.size();
  if (n <= limits.patience) return std::nullopt;
  const double sign = limits.higher_is_better ? -1 : 1;
  double before = std::numeric_limits<double>::infinity(), since = before;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(points.values[i])) continue;
    double& best = i + limits.patience < n ? before : since;
    best = std::min(best, sign * points.values[i]);
  }
  if (!std::isfinite(before) || since < before - limits.min_delta) return std::nullopt;
  return at(points, n - 1,
            fmt::format("no better than {:.4g} for {} points", sign * before, limits.patience));
}

std::optional<Fired> stalls(const Points& points, const CurveLimits& limits) {
  if (points.size() < 4) return std::nullopt;
  std::vector<double> gaps;
  for (size_t i = points.size() > 200 ? points.size() - 200 : 1; i < points.size(); ++i)
    gaps.push_back(points.walls[i] - points.walls[i - 1]);
  const double usual = median_of(std::move(gaps));
  const double silent = limits.now - points.walls.back();
  if (!(silent > std::max(limits.stall_least_s, limits.stall_factor * usual))) return std::nullopt;
  return at(points, points.size() - 1,
            fmt::format("no point for {:.0f} s; usually one every {:.3g} s", silent, usual));
}

// Seconds a step takes, between neighbours of [begin, end). A restart counts steps anew: left out.
double step_seconds(const Points& points, size_t begin, size_t end) {
  std::vector<double> seconds;
  for (size_t i = std::max<size_t>(begin, 1); i < end; ++i) {
    const auto steps = static_cast<double>(points.steps[i] - points.steps[i - 1]);
    if (steps > 0) seconds.push_back((points.walls[i] - points.walls[i - 1]) / steps);
  }
  return seconds.empty() ? 0 : median_of(std::move(seconds));
}

std::optional<Fired> slows(const Points& points, const CurveLimits& limits) {
  // Lately is the last tenth, at least 20 points: one slow evaluation is no drop.
  const size_t n = points.size(), lately = std::max<size_t>(20, n / 10);
  if (n < 3 * lately) return std::nullopt;
  const double usual = step_seconds(points, n > kLooked ? n - kLooked : 0, n - lately);
  const double now = step_seconds(points, n - lately, n);
  if (!(usual > 0) || !(now > limits.slow_factor * usual)) return std::nullopt;
  return at(points, n - 1,
            fmt::format("{:.4g} steps a second lately, {:.4g} before", 1 / now, 1 / usual));
}

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  Expression out;
  out.text = trimmed(text);
  std::string_view rest = out.text;
  bool all = false;
  while (true) {
    const size_t both = rest.find(" and "), either = rest.find(" or ");
    const size_t end = std::min(both, either);
    SONDE_TRY(part, parse_comparison(rest.substr(0, end)));
    out.parts.push_back(std::move(part));
    if (end == rest.npos) break;
    (end == both ? all : out.any) = true;
    rest.remove_prefix(end + (end == both ? 5 : 4));
    if (out.parts.size() > 100) return fail(Code::kTooLarge, "more than 100 comparisons");
  }
  if (all && out.any)
    return fail(Code::kInvalid, "an expression joins by 'and' or by 'or', not by both");
  return out;
}

std::optional<bool> holds(const Expression& expression, const store::RunSnapshot& run) {
  bool is_unknown = false;
  for (const Comparison& part : expression.parts) {
    const auto value = value_of(part, run);
    if (!value) {
      is_unknown = true;
      continue;
    }
    const bool fits = compares(*value, part.op, part.number);
    if (fits == expression.any) return fits;
  }
  if (is_unknown) return std::nullopt;
  return !expression.any;
}

bool is_curve_word(std::string_view word) { return std::ranges::count(kWords, word) > 0; }

std::optional<Fired> look_at(std::string_view word, const Points& points,
                             const CurveLimits& limits) {
  if (points.size() == 0) return std::nullopt;
  if (word == "nan") {
    for (size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(points.values[i]))
        return at(points, i,
                  fmt::format("is {} from step {} on", points.values[i], points.steps[i]));
    }
    return std::nullopt;
  }
  if (word == "spike") {
    const size_t from = points.size() > kLooked ? points.size() - kLooked : 0;
    const auto found = spikes(std::span(points.values).subspan(from), limits.min_z, 1);
    if (found.empty()) return std::nullopt;
    return at(points, from + found[0].index,
              fmt::format("{:.4g} at step {}, {:.1f} times the usual distance from {:.4g}",
                          found[0].value, points.steps[from + found[0].index], std::abs(found[0].z),
                          found[0].expected));
  }
  if (word == "divergence") return diverges(points, limits);
  if (word == "plateau") return stays(points, limits);
  if (word == "stall") return stalls(points, limits);
  if (word == "throughput") return slows(points, limits);
  return std::nullopt;
}

}  // namespace sonde::query
