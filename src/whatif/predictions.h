// What a model said about every example, and what was true. Scores of an example lie beside each
// other; NaN where the model said nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

enum class Task : uint8_t { kRegression, kBinary, kMulticlass };
std::string_view name_of(Task task);

struct Predictions {
  std::string model;
  Task task = Task::kBinary;
  std::vector<std::string> labels;  // binary: {other, positive}; regression: none
  // Multi-class: one a label. Binary: the score of the positive label. Regression: the value.
  std::vector<double> scores;

  size_t width() const { return task == Task::kMulticlass ? labels.size() : 1; }
  size_t rows() const { return width() == 0 ? 0 : scores.size() / width(); }
  double score(size_t row, size_t label = 0) const { return scores[row * width() + label]; }
  bool is_missing(size_t row) const { return std::isnan(scores[row * width()]); }
  // The label with the highest score (the first of equal ones), by the threshold for binary;
  // kMissing when the model said nothing or the task is regression.
  uint32_t predicted(size_t row, double threshold = 0.5) const;
  // The score of that label.
  double confidence(size_t row) const;
};

// How predictions are found among columns. Without labels: one column is a binary score when all of
// it lies in 0 … 1 and the truth has two values, a regression otherwise.
struct PredictionColumns {
  std::string model = "model";
  std::vector<std::string> columns;
  std::vector<std::string> labels = {};  // of the columns, in order; empty: from their names
  std::string task = {};                 // "", "regression", "binary", "multiclass"
  std::string positive = {};             // binary: the label that the score speaks of
};
// kNotFound or kInvalid naming the column. `truth` may be null.
Result<Predictions> predictions_from(const Dataset& data, const PredictionColumns& from,
                                     const Column* truth);

// Columns named prediction, score, prediction:x, ... as the page suggests them.
std::vector<std::string> likely_prediction_columns(const Dataset& data);

// What was true, in the words of the predictions.
struct Truth {
  static constexpr int32_t kNone = -1;   // missing
  static constexpr int32_t kOther = -2;  // a value that is none of the labels
  std::vector<int32_t> labels;           // classification: which label
  std::vector<double> values;            // regression
};
Truth truth_of(const Column& column, const Predictions& predictions);

// The label that speaks of "yes" in a column of two values: 1, true, yes, positive; else the last
// in order.
std::string positive_label(const Column& column);
// The values of a column that can be labels, in natural order; at most `most`, empty when more.
std::vector<std::string> label_values(const Column& column, size_t most);

// A binary example counts as right when the threshold puts it on the side of the truth.
bool is_correct(const Predictions& predictions, const Truth& truth, size_t row,
                double threshold = 0.5);

}  // namespace sonde::whatif
