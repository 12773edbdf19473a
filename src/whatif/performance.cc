#include "whatif/performance.h"

#include <algorithm>

namespace sonde::whatif {
namespace {

constexpr size_t kMostTop = 5;

struct Errors {
  std::vector<double> absolute;
  double sum = 0, absolute_sum = 0, squares = 0, truth_sum = 0, truth_squares = 0;
};

RegressionFigures figures_of(Errors& e) {
  RegressionFigures out;
  const double n = static_cast<double>(e.absolute.size());
  out.count = static_cast<uint32_t>(n);
  if (n == 0) return out;
  out.mean_error = e.sum / n;
  out.mean_absolute = e.absolute_sum / n;
  out.mean_squared = e.squares / n;
  double spread = 0;
  for (const double a : e.absolute) spread += (a - out.mean_absolute) * (a - out.mean_absolute);
  out.mean_absolute_interval = mean_interval(out.mean_absolute, n > 1 ? spread / (n - 1) : 0, n);
  const auto middle = e.absolute.begin() + static_cast<int64_t>(e.absolute.size() / 2);
  std::nth_element(e.absolute.begin(), middle, e.absolute.end());
  out.median_absolute = *middle;
  if (e.absolute.size() % 2 == 0)
    out.median_absolute = (*middle + *std::max_element(e.absolute.begin(), middle)) / 2;
  const double total = e.truth_squares - e.truth_sum * e.truth_sum / n;
  if (total > 0) out.r2 = 1 - e.squares / total;
  return out;
}

void finish(ClassFigures& out, size_t labels) {
  if (out.count == 0) return;
  out.accuracy = static_cast<double>(out.hits) / out.count;
  out.accuracy_interval = wilson(out.hits, out.count);
  double f1 = 0, seen = 0;
  for (size_t i = 0; i < labels; ++i) {
    LabelFigures& label = out.labels[i];
    label.precision = share_of(label.hits, label.predicted);
    label.recall = share_of(label.hits, label.support);
    label.f1 = share_of(2.0 * label.hits, double(label.predicted) + label.support);
    if (label.support + label.predicted > 0) f1 += label.f1, ++seen;
  }
  out.macro_f1 = seen > 0 ? f1 / seen : 0;
  for (double& share : out.top) share /= out.count;
}

}  // namespace

std::vector<RegressionFigures> regression_figures(const Predictions& predictions,
                                                  const Truth& truth, const Slicing& slicing) {
  std::vector<Errors> errors(slicing.slices.size());
  // Sums about the mean of all truths keep their digits.
  double shift = 0, n = 0;
  for (const double v : truth.values)
    if (std::isfinite(v)) shift += (v - shift) / ++n;
  for (size_t row = 0; row < slicing.slice.size(); ++row) {
    const double error = predictions.scores[row] - truth.values[row];
    if (!std::isfinite(error)) continue;
    Errors& e = errors[slicing.slice[row]];
    const double t = truth.values[row] - shift;
    e.absolute.push_back(std::abs(error));
    e.sum += error;
    e.absolute_sum += std::abs(error);
    e.squares += error * error;
    e.truth_sum += t;
    e.truth_squares += t * t;
  }
  std::vector<RegressionFigures> out;
  for (Errors& e : errors) out.push_back(figures_of(e));
  return out;
}

std::vector<ClassFigures> class_figures(const Predictions& predictions, const Truth& truth,
                                        const Slicing& slicing, double threshold) {
  const size_t labels = predictions.labels.size();
  const bool is_multi = predictions.task == Task::kMulticlass;
  std::vector<ClassFigures> out(slicing.slices.size());
  for (ClassFigures& f : out) {
    f.confusion.assign((labels + 1) * labels, 0);
    f.labels.resize(labels);
    if (is_multi) f.top.assign(std::min(kMostTop, labels), 0);
  }
  for (size_t row = 0; row < slicing.slice.size(); ++row) {
    const uint32_t said = predictions.predicted(row, threshold);
    int32_t actual = truth.labels[row];
    if (!is_multi && actual == Truth::kNone) actual = 0;
    if (said == kMissing || actual == Truth::kNone) continue;
    ClassFigures& f = out[slicing.slice[row]];
    ++f.count;
    ++f.labels[said].predicted;
    const size_t line = actual >= 0 ? static_cast<size_t>(actual) : labels;
    ++f.confusion[line * labels + said];
    if (actual < 0) continue;
    ++f.labels[line].support;
    if (line == said) ++f.hits, ++f.labels[said].hits;
    if (!is_multi) continue;
    // How many labels score higher than the true one; equal scores count in its favour by order.
    size_t better = 0;
    const double score = predictions.score(row, line);
    for (size_t i = 0; i < labels; ++i)
      better +=
          predictions.score(row, i) > score || (predictions.score(row, i) == score && i < line);
    for (size_t k = better; k < f.top.size(); ++k) ++f.top[k];
  }
  for (ClassFigures& f : out) finish(f, labels);
  return out;
}

}  // namespace sonde::whatif
