#include "whatif/curves.h"

#include <algorithm>
#include <numeric>

namespace sonde::whatif {
namespace {

// Mid-ranks of equal scores, ranks from 1 in rising order.
std::vector<double> mid_ranks(std::span<const double> falling) {
  const size_t n = falling.size();
  std::vector<double> ranks(n);
  for (size_t i = 0; i < n;) {
    size_t j = i;
    while (j < n && falling[j] == falling[i]) ++j;
    const double rank =
        static_cast<double>(n) - (static_cast<double>(i) + static_cast<double>(j) - 1) / 2;
    std::fill(ranks.begin() + static_cast<int64_t>(i), ranks.begin() + static_cast<int64_t>(j),
              rank);
    i = j;
  }
  return ranks;
}

double variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / (n - 1);
}

void area(const Ranked& ranked, Curves& out) {
  std::vector<double> positive, negative;
  for (size_t i = 0; i < ranked.scores.size(); ++i)
    (ranked.is_positive[i] ? positive : negative).push_back(ranked.scores[i]);
  if (positive.empty() || negative.empty()) return;
  const double m = static_cast<double>(positive.size()), n = static_cast<double>(negative.size());
  const std::vector<double> all = mid_ranks(ranked.scores), among_positive = mid_ranks(positive),
                            among_negative = mid_ranks(negative);
  std::vector<double> v10, v01;
  double sum = 0;
  size_t p = 0, q = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (ranked.is_positive[i]) {
      sum += all[i];
      v10.push_back((all[i] - among_positive[p++]) / n);
    } else {
      v01.push_back(1 - (all[i] - among_negative[q++]) / m);
    }
  }
  out.auc = (sum - m * (m + 1) / 2) / (m * n);
  const double half = kZ95 * std::sqrt(variance(v10) / m + variance(v01) / n);
  if (m > 1 && n > 1)
    out.auc_interval = {std::max(0.0, out.auc - half), std::min(1.0, out.auc + half)};
}

// Evenly spread, the ends always.
std::vector<CurvePoint> thinned(std::vector<CurvePoint> points, size_t most) {
  if (points.size() <= most || most < 2) return points;
  std::vector<CurvePoint> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  return kept;
}

// Points between two others on a straight line say nothing.
void push_bend(std::vector<CurvePoint>& points, const CurvePoint& next) {
  if (points.size() >= 2) {
    const CurvePoint &a = points[points.size() - 2], &b = points.back();
    const bool straight = (a.x == b.x && b.x == next.x) || (a.y == b.y && b.y == next.y);
    if (straight) points.pop_back();
  }
  points.push_back(next);
}

}  // namespace

std::vector<Ranked> ranked_of(const Predictions& predictions, const Truth& truth,
                              const Slicing& slicing) {
  // Scores stand beside their rows: sorting rows alone reads all over memory.
  struct Scored {
    double score;
    uint32_t row;
  };
  std::vector<Scored> order;
  order.reserve(slicing.slice.size());
  for (uint32_t row = 0; row < slicing.slice.size(); ++row)
    if (!predictions.is_missing(row)) order.push_back({predictions.scores[row], row});
  std::ranges::sort(order, [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  });
  std::vector<Ranked> out(slicing.slices.size());
  for (size_t s = 0; s < out.size(); ++s) {
    out[s].scores.reserve(slicing.slices[s].count);
    out[s].is_positive.reserve(slicing.slices[s].count);
  }
  for (const auto& [score, row] : order) {
    Ranked& ranked = out[slicing.slice[row]];
    ranked.scores.push_back(score);
    ranked.is_positive.push_back(truth.labels[row] == 1);
  }
  return out;
}

Ranked ranked_all(const Predictions& predictions, const Truth& truth) {
  Slicing one;
  one.slice.assign(truth.labels.size(), 0);
  one.slices.push_back({{}, static_cast<uint32_t>(truth.labels.size())});
  return std::move(ranked_of(predictions, truth, one)[0]);
}

Ranked ranked_against_rest(const Predictions& predictions, const Truth& truth, size_t label) {
  Predictions one;
  Truth is_it;
  for (size_t row = 0; row < predictions.rows(); ++row) {
    one.scores.push_back(predictions.is_missing(row) ? kNaN : predictions.score(row, label));
    is_it.labels.push_back(truth.labels[row] == static_cast<int32_t>(label) ? 1 : 0);
  }
  return ranked_all(one, is_it);
}

Curves curves_of(const Ranked& ranked, size_t points) {
  Curves out;
  const size_t n = ranked.scores.size();
  const double positives = static_cast<double>(
      std::count(ranked.is_positive.begin(), ranked.is_positive.end(), uint8_t{1}));
  const double negatives = static_cast<double>(n) - positives;
  area(ranked, out);
  out.roc.push_back({0, 0, static_cast<float>(INFINITY)});
  double tp = 0, fp = 0, recall = 0, precision_sum = 0;
  for (size_t i = 0; i < n;) {
    const double score = ranked.scores[i];
    for (; i < n && ranked.scores[i] == score; ++i) ranked.is_positive[i] ? ++tp : ++fp;
    ++out.distinct;
    const double next = share_of(tp, positives), precision = tp / (tp + fp);
    precision_sum += (next - recall) * precision;
    recall = next;
    const auto at = static_cast<float>(score);
    push_bend(out.roc,
              {static_cast<float>(share_of(fp, negatives)), static_cast<float>(recall), at});
    out.precision_recall.push_back({static_cast<float>(recall), static_cast<float>(precision), at});
  }
  if (positives > 0) out.average_precision = precision_sum;
  out.roc = thinned(std::move(out.roc), points);
  out.precision_recall = thinned(std::move(out.precision_recall), points);
  return out;
}

Calibration calibration_of(const Ranked& ranked, size_t bins) {
  struct Sum {
    double score = 0, positive = 0, count = 0;
  };
  std::vector<Sum> sums(bins);
  double brier = 0;
  for (size_t i = 0; i < ranked.scores.size(); ++i) {
    const double score = std::clamp(ranked.scores[i], 0.0, 1.0), truth = ranked.is_positive[i];
    Sum& sum = sums[std::min(bins - 1, static_cast<size_t>(score * static_cast<double>(bins)))];
    sum.score += score;
    sum.positive += truth;
    ++sum.count;
    brier += (score - truth) * (score - truth);
  }
  Calibration out;
  const double n = static_cast<double>(ranked.scores.size());
  double error = 0;
  for (size_t i = 0; i < bins; ++i) {
    CalibrationBin bin{static_cast<double>(i) / static_cast<double>(bins),
                       static_cast<double>(i + 1) / static_cast<double>(bins),
                       kNaN,
                       kNaN,
                       {},
                       0};
    if (const Sum& sum = sums[i]; sum.count > 0) {
      bin.count = static_cast<uint32_t>(sum.count);
      bin.mean_score = sum.score / sum.count;
      bin.positive_rate = sum.positive / sum.count;
      bin.interval = wilson(sum.positive, sum.count);
      error += std::abs(sum.score - sum.positive) / n;
    }
    out.bins.push_back(bin);
  }
  if (n > 0) out.expected_error = error, out.brier = brier / n;
  return out;
}

CompatibleAreas compatible_areas(const Sweep& sweep) {
  CompatibleAreas out;
  const auto piece = [](double x0, double y0, double x1, double y1) {
    const double width = x1 - x0;
    return width * std::min(y0, y1) + width * (y1 - y0) / 2;
  };
  for (size_t k = kThresholds - 1; k > 0; --k) {
    const Counts &a = sweep[k], &b = sweep[k - 1];
    out.roc += piece(a.false_positive_rate(), a.recall(), b.false_positive_rate(), b.recall());
    out.precision_recall += piece(a.recall(), a.precision(), b.recall(), b.precision());
  }
  return out;
}

}  // namespace sonde::whatif
