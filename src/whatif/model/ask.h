// Examples as a request of TensorFlow Serving, KServe or a template, and its answer as predictions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "whatif/dataset.h"
#include "whatif/model/config.h"
#include "whatif/predictions.h"

namespace sonde::whatif {

// One value of a feature, or all of a list, as JSON.
void write_value(JsonWriter& json, const Column& column, size_t row);
// {"feature": value ...}; features that are missing are left out.
void write_row(JsonWriter& json, const Dataset& data, size_t row,
               const std::vector<size_t>& columns);

// The request body for the rows [begin, end).
std::string request_body(const ModelConfig& model, const Dataset& data,
                         const std::vector<size_t>& columns, size_t begin, size_t end);

// What a model says, before it is known which task it is.
struct RawScores {
  std::vector<std::string> labels;  // where the answer names them
  size_t width = 0;
  std::vector<double> scores;             // rows * width
  std::vector<std::string> attributions;  // a JSON object an example, or none at all
};
// kInvalid when the answer is not one prediction for each of `rows` examples.
Result<RawScores> read_scores(const ModelConfig& model, std::string_view body, size_t rows);

// Puts what was said about every example into the order of these labels; kInvalid when they differ.
Result<void> order_scores(const std::vector<std::string>& labels, RawScores& raw);
// Adds what was said about the next examples, its labels in the order of the first ones.
Result<void> append_scores(RawScores part, RawScores& all);

// As predictions of the set's task.
Result<Predictions> to_predictions(const ModelConfig& model, RawScores raw, const Column* truth);

// The whole of it for a few examples; the columns that are no features are left out by the caller.
Result<RawScores> ask_model(const ModelConfig& model, const Dataset& data,
                            const std::vector<size_t>& columns, size_t begin, size_t end);

}  // namespace sonde::whatif
