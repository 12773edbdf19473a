// Figures of a model on a slice besides the thresholds: errors of a regression, the confusion
// matrix and the scores per label of a classification.
#pragma once

#include <cstdint>
#include <vector>

#include "whatif/intervals.h"
#include "whatif/predictions.h"
#include "whatif/slices.h"

namespace sonde::whatif {

struct RegressionFigures {
  uint32_t count = 0;
  double mean_error = kNaN, mean_absolute = kNaN, mean_squared = kNaN, median_absolute = kNaN,
         r2 = kNaN;
  Interval mean_absolute_interval;
};
// One a slice. Examples without a prediction or a truth are left out.
std::vector<RegressionFigures> regression_figures(const Predictions& predictions,
                                                  const Truth& truth, const Slicing& slicing);

struct LabelFigures {
  uint32_t support = 0, predicted = 0, hits = 0;
  double precision = 0, recall = 0, f1 = 0;
};
struct ClassFigures {
  uint32_t count = 0, hits = 0;
  double accuracy = kNaN, macro_f1 = kNaN;
  Interval accuracy_interval;
  std::vector<uint32_t>
      confusion;  // rows actual, columns predicted; the last row: none of the labels
  std::vector<LabelFigures> labels;
  std::vector<double> top;  // share of examples whose truth is among the best 1, 2 … 5 labels
};
std::vector<ClassFigures> class_figures(const Predictions& predictions, const Truth& truth,
                                        const Slicing& slicing, double threshold);

}  // namespace sonde::whatif
