// Computes a formula for every run. Values of two tags meet by step: a step that only one of them
// has takes the other's value from the line between its neighbours, within the steps both reach.
#include "log/query/series/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "log/query/series/group.h"
#include "log/query/series/points.h"
#include "log/query/series/smooth.h"

namespace sonde::query {
namespace {

using Node = ExpressionNode;
using Kind = Node::Kind;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMostPlaces = 20'000;  // steps at which runs are compared; beyond, every n-th

class DerivedSeries final : public store::Series {
 public:
  DerivedSeries(const std::string& text, Points points, uint64_t revision)
      : points_(std::move(points)) {
    tag_ = "=" + text;
    auto metadata = std::make_shared<store::Metadata>();
    metadata->plugin = "scalars";
    metadata->data_class = store::DataClass::kScalar;
    metadata_ = std::move(metadata);
    is_scalar_ = true;
    value_type_ = store::ValueType::kFloat64;
    size_ = points_.size();
    all_ = {0, size_};
    revision_ = revision;
    layout_ = revision;  // any new point may change every value: nothing kept of it goes on
  }
  void blocks(store::Range range,
              const std::function<void(const store::ScalarBlock&)>& fn) const override {
    const size_t n = range.end - range.begin;
    if (n == 0) return;
    fn({{points_.steps.data() + range.begin, n},
        {points_.walls.data() + range.begin, n},
        points_.values.data() + range.begin,
        store::ValueType::kFloat64});
  }
  std::span<const store::BlobPoint> points(store::Range) const override { return {}; }
  uint64_t unreadable() const override { return 0; }

 private:
  Points points_;
};

// A curve, or a number that holds everywhere.
struct Value {
  std::optional<double> constant;
  Points curve;  // steps ascend, each once
};

// The newest view in order of step; of equal steps the last one counts.
Points ordered(const store::Series& series) {
  Points all;
  const ViewReader reader(series, store::View::kNewest);
  reader.read(0, reader.size(), all);
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!std::ranges::is_sorted(all.steps))
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return all.steps[a] < all.steps[b]; });
  Points out;
  for (size_t k = 0; k < order.size(); ++k) {
    if (k + 1 < order.size() && all.steps[order[k + 1]] == all.steps[order[k]]) continue;
    out.steps.push_back(all.steps[order[k]]);
    out.walls.push_back(all.walls[order[k]]);
    out.values.push_back(all.values[order[k]]);
  }
  return out;
}

std::vector<double> steps_as_x(const Points& points) {
  return {points.steps.begin(), points.steps.end()};
}

// The steps of both, each once, with the wall times of whichever has the step.
Points timeline_of(const Points& a, const Points& b) {
  Points out;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a.steps[i] <= b.steps[j]);
    const Step step = from_a ? a.steps[i] : b.steps[j];
    out.steps.push_back(step);
    out.walls.push_back(from_a ? a.walls[i] : b.walls[j]);
    out.values.push_back(kNaN);
    if (i < a.size() && a.steps[i] == step) ++i;
    if (j < b.size() && b.steps[j] == step) ++j;
  }
  return out;
}

// Values at the steps of a timeline: the point's own where there is one (NaN stays NaN), else
// between its neighbours; NaN outside.
std::vector<double> values_at(const Points& curve, const Points& timeline) {
  std::vector<double> xs, ys;
  for (size_t i = 0; i < curve.size(); ++i) {
    if (!std::isfinite(curve.values[i])) continue;
    xs.push_back(static_cast<double>(curve.steps[i]));
    ys.push_back(curve.values[i]);
  }
  std::vector<double> out = xs.empty() ? std::vector<double>(timeline.size(), kNaN)
                                       : interpolated(xs, ys, steps_as_x(timeline));
  for (size_t i = 0, j = 0; i < timeline.size() && j < curve.size(); ++i) {
    while (j < curve.size() && curve.steps[j] < timeline.steps[i]) ++j;
    if (j < curve.size() && curve.steps[j] == timeline.steps[i]) out[i] = curve.values[j];
  }
  return out;
}

double applied(char op, double a, double b) {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b == 0 ? kNaN : a / b;
    default:
      return std::pow(a, b);
  }
}

Value joined(char op, Value a, Value b) {
  if (a.constant && b.constant) return {applied(op, *a.constant, *b.constant), {}};
  if (a.constant || b.constant) {
    Value out{std::nullopt, std::move(a.constant ? b.curve : a.curve)};
    for (double& v : out.curve.values)
      v = a.constant ? applied(op, *a.constant, v) : applied(op, v, *b.constant);
    return out;
  }
  if (a.curve.steps == b.curve.steps) {
    for (size_t i = 0; i < a.curve.size(); ++i)
      a.curve.values[i] = applied(op, a.curve.values[i], b.curve.values[i]);
    return a;
  }
  Value out;
  if (a.curve.size() == 0 || b.curve.size() == 0) return out;
  const Points timeline = timeline_of(a.curve, b.curve);
  const std::vector<double> left = values_at(a.curve, timeline),
                            right = values_at(b.curve, timeline);
  const Step from = std::max(a.curve.steps.front(), b.curve.steps.front());
  const Step to = std::min(a.curve.steps.back(), b.curve.steps.back());
  for (size_t i = 0; i < timeline.size(); ++i) {
    if (timeline.steps[i] < from || timeline.steps[i] > to) continue;
    out.curve.steps.push_back(timeline.steps[i]);
    out.curve.walls.push_back(timeline.walls[i]);
    out.curve.values.push_back(applied(op, left[i], right[i]));
  }
  return out;
}

// Functions that look along a curve.
Points along(const std::string& name, double parameter, Points curve) {
  std::vector<double>& v = curve.values;
  if (name == "ema") {
    v = smoothed(v, {Smoothing::Kind::kEma, parameter});
  } else if (name == "avg") {
    v = smoothed(v, {Smoothing::Kind::kMean, parameter});
  } else if (name == "rate" || name == "diff") {
    for (size_t i = v.size(); i-- > 1;) {
      const double seconds = curve.walls[i] - curve.walls[i - 1];
      const double change = v[i] - v[i - 1];
      v[i] = name == "diff" ? change : seconds > 0 ? change / seconds : kNaN;
    }
    if (!v.empty()) {  // the first point has nothing before it
      curve.steps.erase(curve.steps.begin());
      curve.walls.erase(curve.walls.begin());
      v.erase(v.begin());
    }
  } else if (name == "first" || name == "last") {
    const auto is_finite = [](double x) { return std::isfinite(x); };
    const auto found = std::ranges::find_if(v, is_finite);
    const auto back = std::find_if(v.rbegin(), v.rend(), is_finite);
    const double value = found == v.end() ? kNaN : name == "first" ? *found : *back;
    std::ranges::fill(v, value);
  } else {
    double kept = name == "cumsum" ? 0 : kNaN;
    for (double& x : v) {
      if (std::isfinite(x))
        kept = name == "cumsum"   ? kept + x
               : name == "cummin" ? std::fmin(kept, x)
                                  : std::fmax(kept, x);
      x = kept;
    }
  }
  return curve;
}

double pointwise(const std::string& name, double x) {
  if (name == "abs") return std::abs(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "exp") return std::exp(x);
  return name == "log" ? std::log(x) : std::log10(x);
}

double over_runs(const std::string& name, std::vector<double>& values) {
  if (name == "count") return static_cast<double>(values.size());
  if (values.empty()) return kNaN;
  if (name == "min") return *std::ranges::min_element(values);
  if (name == "max") return *std::ranges::max_element(values);
  if (name == "median") {
    std::ranges::sort(values);
    return quantile(values, 0.5);
  }
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (name == "mean") return mean;
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / n);
}

struct RunCurves {
  std::map<std::string, Points> tags;
  Points timeline;  // every step of any of them
};

class Evaluation {
 public:
  explicit Evaluation(const std::vector<RunCurves>& runs) : runs_(runs) {}

  // Finds the curves over runs first: each of them asks for all runs.
  void prepare(const Node& node) {
    for (const Node& part : node.parts) prepare(part);
    if (node.kind == Kind::kCall && is_over_runs(node.name)) over_.emplace(&node, combined(node));
  }
  Value of(const Node& node, const RunCurves& run) const {
    switch (node.kind) {
      case Kind::kNumber:
        return {node.number, {}};
      case Kind::kTag:
        return {std::nullopt, run.tags.at(node.name)};
      case Kind::kStep:
      case Kind::kTime: {
        Value out{std::nullopt, run.timeline};
        for (size_t i = 0; i < out.curve.size(); ++i)
          out.curve.values[i] = node.kind == Kind::kStep ? static_cast<double>(out.curve.steps[i])
                                                         : out.curve.walls[i] - out.curve.walls[0];
        return out;
      }
      case Kind::kNegate:
        return joined('*', {-1.0, {}}, of(node.parts[0], run));
      case Kind::kBinary:
        return joined(node.op, of(node.parts[0], run), of(node.parts[1], run));
      case Kind::kCall:
        break;
    }
    return called(node, run);
  }

 private:
  static bool is_over_runs(const std::string& name) {
    return name == "mean" || name == "median" || name == "min" || name == "max" || name == "std" ||
           name == "count";
  }
  Value called(const Node& node, const RunCurves& run) const {
    if (const auto found = over_.find(&node); found != over_.end())
      return {std::nullopt, found->second};
    Value inner = of(node.parts[0], run);
    static constexpr std::string_view kPointwise[] = {"abs", "sqrt", "exp", "log", "log10"};
    if (std::ranges::find(kPointwise, node.name) != std::end(kPointwise)) {
      if (inner.constant) return {pointwise(node.name, *inner.constant), {}};
      for (double& v : inner.curve.values) v = pointwise(node.name, v);
      return inner;
    }
    if (inner.constant) {  // along the steps of the run
      const double value = *inner.constant;
      inner = {std::nullopt, run.timeline};
      std::ranges::fill(inner.curve.values, value);
    }
    const double parameter = node.parts.size() > 1 ? node.parts[1].number : 0;
    return {std::nullopt, along(node.name, parameter, std::move(inner.curve))};
  }
  Points combined(const Node& node) const {
    std::vector<Points> curves;
    Points places;
    for (const RunCurves& run : runs_) {
      Value value = of(node.parts[0], run);
      if (value.constant) {
        const double constant = *value.constant;
        value.curve = run.timeline;
        std::ranges::fill(value.curve.values, constant);
      }
      places = timeline_of(places, value.curve);
      curves.push_back(std::move(value.curve));
      if (places.size() > 4 * kMostPlaces) thin_out(places);
    }
    if (places.size() > kMostPlaces) thin_out(places);
    std::vector<std::vector<double>> rows;
    rows.reserve(curves.size());
    for (const Points& curve : curves) rows.push_back(values_at(curve, places));
    std::vector<double> values;
    for (size_t i = 0; i < places.size(); ++i) {
      values.clear();
      for (const auto& row : rows)
        if (std::isfinite(row[i])) values.push_back(row[i]);
      places.values[i] = over_runs(node.name, values);
    }
    return places;
  }
  static void thin_out(Points& places) {
    const size_t every = (places.size() + kMostPlaces - 1) / kMostPlaces;
    Points out;
    for (size_t i = 0; i < places.size(); ++i) {
      if (i % every != 0 && i + 1 != places.size()) continue;
      out.steps.push_back(places.steps[i]);
      out.walls.push_back(places.walls[i]);
      out.values.push_back(places.values[i]);
    }
    places = std::move(out);
  }

  const std::vector<RunCurves>& runs_;
  std::map<const Node*, Points> over_;
};

}  // namespace

std::vector<std::shared_ptr<const store::Series>> derived_series(
    const CurveExpression& expression, const std::vector<const store::RunSnapshot*>& runs,
    ThreadPool& pool) {
  std::vector<size_t> having;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool has_all = std::ranges::all_of(expression.tags, [&](const std::string& tag) {
      const store::Series* series = runs[i]->find(tag);
      return series && series->is_scalar();
    });
    if (has_all) having.push_back(i);
  }
  std::vector<RunCurves> curves(having.size());
  std::vector<uint64_t> revisions(having.size(), 0);
  pool.for_each(having.size(), [&](size_t k) {
    for (const std::string& tag : expression.tags) {
      const store::Series& series = *runs[having[k]]->find(tag);
      revisions[k] = std::max(revisions[k], series.revision());
      Points points = ordered(series);
      curves[k].timeline = timeline_of(curves[k].timeline, points);
      curves[k].tags.emplace(tag, std::move(points));
    }
  });
  Evaluation evaluation(curves);
  evaluation.prepare(expression.root);
  const uint64_t newest = revisions.empty() ? 0 : *std::ranges::max_element(revisions);
  std::vector<std::shared_ptr<const store::Series>> out(runs.size());
  const size_t count = expression.is_over_runs ? std::min<size_t>(having.size(), 1) : having.size();
  pool.for_each(count, [&](size_t k) {
    Value value = evaluation.of(expression.root, curves[k]);
    if (value.constant) return;
    out[having[k]] =
        std::make_shared<const DerivedSeries>(expression.text, std::move(value.curve), newest);
  });
  return out;
}

}  // namespace sonde::query
