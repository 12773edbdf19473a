// Exact curves of a binary decision over all distinct scores: ROC with the area by ranks and its
// interval (DeLong), precision and recall with the average precision, calibration. And the areas of
// the 101-point curves as the original tool computes them, for comparison with old reports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whatif/intervals.h"
#include "whatif/thresholds.h"

namespace sonde::whatif {

// Scores of some examples in falling order with their truth.
struct Ranked {
  std::vector<double> scores;
  std::vector<uint8_t> is_positive;
};
// One a slice; a truth that is not the positive label is negative. Examples without a prediction
// are left out. One sort serves all slices.
std::vector<Ranked> ranked_of(const Predictions& predictions, const Truth& truth,
                              const Slicing& slicing);
Ranked ranked_all(const Predictions& predictions, const Truth& truth);
// One label of several against all others.
Ranked ranked_against_rest(const Predictions& predictions, const Truth& truth, size_t label);

struct CurvePoint {
  float x = 0, y = 0, threshold = 0;
};
struct Curves {
  double auc = kNaN;  // NaN unless both sides are there
  Interval auc_interval;
  double average_precision = kNaN;
  std::vector<CurvePoint> roc;               // false positive rate, true positive rate
  std::vector<CurvePoint> precision_recall;  // recall, precision
  size_t distinct = 0;                       // distinct scores: points before thinning
};
// At most `points` points a curve are kept; areas are exact whatever is kept.
Curves curves_of(const Ranked& ranked, size_t points);

struct CalibrationBin {
  double low = 0, high = 0, mean_score = kNaN, positive_rate = kNaN;
  Interval interval;
  uint32_t count = 0;
};
struct Calibration {
  std::vector<CalibrationBin> bins;
  double expected_error = kNaN;  // mean |score - rate| over bins, weighted by count
  double brier = kNaN;
};
Calibration calibration_of(const Ranked& ranked, size_t bins = 10);

// Areas over the 101 thresholds with the original tool's sum, which is too small where a curve
// falls.
struct CompatibleAreas {
  double roc = 0, precision_recall = 0;
};
CompatibleAreas compatible_areas(const Sweep& sweep);

}  // namespace sonde::whatif
