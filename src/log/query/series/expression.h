// A formula over scalar series, as people type it above a chart: `train/loss - val/loss`,
// `ema(loss, 0.9)`, `x / rate(step)`, over runs `loss - mean(loss)`. Computed from all points before
// anything is thinned; the answer is a series like any other. Rules for people: docs/ui.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "log/model/snapshot.h"

namespace sonde::query {

struct ExpressionNode {
  enum class Kind : uint8_t { kNumber, kTag, kStep, kTime, kNegate, kBinary, kCall };
  Kind kind = Kind::kNumber;
  double number = 0;
  char op = 0;       // of kBinary: + - * / ^
  std::string name;  // tag, or function
  std::vector<ExpressionNode> parts;
};

struct CurveExpression {
  std::string text;
  ExpressionNode root;
  std::vector<std::string> tags;  // each once
  bool is_over_runs =
      false;  // the same line for every run: nothing outside of mean(…) and the like
};

// kInvalid, naming the place, when the text is no expression. `is_tag` says what a tag is: the
// longest name that is one counts, so `train/loss` is a tag and `loss / 2` a division.
Result<CurveExpression> parse_curve_expression(
    std::string_view text, const std::function<bool(const std::string&)>& is_tag);

// The curve of each run, in order; null for a run that lacks a tag of the expression. With
// is_over_runs the first run that has every tag carries the one line.
std::vector<std::shared_ptr<const store::Series>> derived_series(
    const CurveExpression& expression, const std::vector<const store::RunSnapshot*>& runs,
    ThreadPool& pool);

}  // namespace sonde::query
