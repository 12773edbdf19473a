// When somebody wants to be told about a run: a word ("nan", "spike", "divergence", "plateau",
// "stall", "throughput") about every curve that a rule looks at, or a comparison of metrics such as
// `val/acc > 0.9 and max(lr) < 1`. Pure functions over points; the clock comes from outside.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/model/snapshot.h"
#include "log/query/series/points.h"

namespace sonde::query {

// One comparison: what(tag) op number. `what`: last, first, min, max, mean, step, count.
struct Comparison {
  std::string what = "last", tag, op;
  double number = 0;
};
// Comparisons joined by "and" (all) or "or" (any); not both in one text.
struct Expression {
  std::vector<Comparison> parts;
  bool any = false;
  std::string text;
};
// kInvalid, naming the place, when the text is no expression.
Result<Expression> parse_expression(std::string_view text);
// Whether it holds for a run; nothing when the run lacks a tag that decides it.
std::optional<bool> holds(const Expression& expression, const store::RunSnapshot& run);

struct Fired {
  Step step = 0;
  double wall = 0, value = 0;
  std::string text;  // a sentence with its number
};

struct CurveLimits {
  double min_z = 8;       // spike
  double factor = 0.5;    // divergence: share of the way back from the best to the first value
  size_t patience = 200;  // plateau: points
  double min_delta = 0;   // plateau: what counts as better
  bool higher_is_better = false;
  double stall_factor = 20, stall_least_s = 60;
  double slow_factor = 2;  // throughput: how many times the usual time a step takes
  double now = 0;          // seconds since 1970
};
bool is_curve_word(std::string_view word);
// Whether a curve fits the word now.
std::optional<Fired> look_at(std::string_view word, const Points& points,
                             const CurveLimits& limits);

}  // namespace sonde::query
