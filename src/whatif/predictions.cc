#include "whatif/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace sonde::whatif {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool all_in_unit(const Column& column) {
  return std::ranges::all_of(column.numbers,
                             [](double v) { return std::isnan(v) || (v >= 0 && v <= 1); });
}

// "prediction:cat" -> "cat", "score_cat" -> "cat": what follows the part that all names share.
std::vector<std::string> labels_from_names(const std::vector<std::string>& names) {
  size_t shared = names[0].size();
  for (const std::string& name : names) {
    const auto [a, b] = std::mismatch(names[0].begin(), names[0].end(), name.begin(), name.end());
    shared = std::min(shared, static_cast<size_t>(a - names[0].begin()));
    (void)b;
  }
  const size_t cut = names[0].substr(0, shared).find_last_of(":_.- /");
  std::vector<std::string> labels;
  for (const std::string& name : names)
    labels.push_back(cut == std::string::npos ? name : name.substr(cut + 1));
  return labels;
}

Result<const Column*> numeric_column(const Dataset& data, const std::string& name) {
  const Column* column = data.find(name);
  if (!column)
    return fail(Code::kNotFound,
                fmt::format("there is no column '{}' to take predictions from", name));
  if (!column->is_numeric())
    return fail(Code::kInvalid,
                fmt::format("column '{}' holds texts; predictions are numbers", name));
  return column;
}

}  // namespace

std::string_view name_of(Task task) {
  return task == Task::kRegression ? "regression" : task == Task::kBinary ? "binary" : "multiclass";
}

uint32_t Predictions::predicted(size_t row, double threshold) const {
  if (task == Task::kRegression || is_missing(row)) return kMissing;
  if (task == Task::kBinary) return scores[row] >= threshold ? 1 : 0;
  const auto first = scores.begin() + static_cast<int64_t>(row * width());
  return static_cast<uint32_t>(std::max_element(first, first + static_cast<int64_t>(width())) -
                               first);
}

double Predictions::confidence(size_t row) const {
  if (task == Task::kBinary) return scores[row] >= 0.5 ? scores[row] : 1 - scores[row];
  if (task == Task::kRegression || is_missing(row)) return kNaN;
  return score(row, predicted(row));
}

Result<Predictions> predictions_from(const Dataset& data, const PredictionColumns& from,
                                     const Column* truth) {
  if (from.columns.empty()) return fail(Code::kInvalid, "no column of predictions is named");
  std::vector<const Column*> columns;
  for (const std::string& name : from.columns) {
    SONDE_TRY(column, numeric_column(data, name));
    columns.push_back(column);
  }
  if (!from.labels.empty() && from.labels.size() != from.columns.size())
    return fail(Code::kInvalid, fmt::format("{} labels are given for {} columns of scores",
                                            from.labels.size(), from.columns.size()));
  const std::vector<std::string> names =
      from.labels.empty() ? labels_from_names(from.columns) : from.labels;
  const std::vector<std::string> values =
      truth ? label_values(*truth, 1000) : std::vector<std::string>();
  Predictions out;
  out.model = from.model;
  const bool one = columns.size() == 1;
  const bool looks_binary = one && all_in_unit(*columns[0]) && (!truth || values.size() == 2);
  if (from.task == "regression" || (from.task.empty() && one && !looks_binary)) {
    if (!one) return fail(Code::kInvalid, "a regression has one column of predictions");
    out.task = Task::kRegression;
    out.scores.resize(data.rows);
    for (size_t row = 0; row < data.rows; ++row) out.scores[row] = columns[0]->number(row);
    return out;
  }
  if (one || from.task == "binary" || (from.task.empty() && columns.size() == 2)) {
    out.task = Task::kBinary;
    std::string positive = from.positive;
    if (positive.empty() && one) positive = truth ? positive_label(*truth) : "1";
    // Two columns: the score of the label that is not 0, of the last one otherwise.
    size_t which = columns.size() - 1;
    if (!one) {
      const auto named = std::ranges::find(names, positive);
      if (named != names.end()) which = static_cast<size_t>(named - names.begin());
      positive = names[which];
    }
    std::string other = "0";
    for (const std::string& value : one ? values : names)
      if (value != positive) other = value;
    out.labels = {other, positive};
    out.scores.resize(data.rows);
    for (size_t row = 0; row < data.rows; ++row) out.scores[row] = columns[which]->number(row);
    return out;
  }
  if (!from.task.empty() && from.task != "multiclass")
    return fail(Code::kInvalid,
                fmt::format("'{}' is no task: regression, binary or multiclass", from.task));
  out.task = Task::kMulticlass;
  out.labels = names;
  out.scores.resize(data.rows * columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    for (size_t row = 0; row < data.rows; ++row)
      out.scores[row * columns.size() + i] = columns[i]->number(row);
  return out;
}

std::vector<std::string> likely_prediction_columns(const Dataset& data) {
  std::vector<std::string> found;
  for (const Column& column : data.columns) {
    if (!column.is_numeric() || column.is_list()) continue;
    const std::string name = lower(column.name);
    const bool whole = name == "prediction" || name == "predictions" || name == "score" ||
                       name == "predicted" || name == "probability" || name == "y_pred" ||
                       name == "y_score";
    const bool part = name.starts_with("prediction:") || name.starts_with("prediction_") ||
                      name.starts_with("score:") || name.starts_with("prediction.");
    if (whole || part) found.push_back(column.name);
  }
  return found;
}

std::vector<std::string> label_values(const Column& column, size_t most) {
  std::vector<std::string> values;
  if (column.is_numeric()) {
    std::set<double> seen;
    for (size_t row = 0; row < column.rows() && seen.size() <= most; ++row)
      if (!column.is_missing(row)) seen.insert(column.number(row));
    if (seen.size() > most) return {};
    for (const double value : seen) values.push_back(number_text(value));
    return values;
  }
  if (column.words.size() > most) return {};
  values = column.words;
  std::ranges::sort(values, [](const auto& a, const auto& b) { return natural_compare(a, b) < 0; });
  return values;
}

std::string positive_label(const Column& column) {
  const std::vector<std::string> values = label_values(column, 1000);
  if (values.empty()) return "1";
  for (const std::string_view wanted : {"1", "true", "yes", "positive", "pos", "y", ">50k"})
    for (const std::string& value : values)
      if (lower(trimmed(value)) == wanted) return value;
  return values.back();
}

Truth truth_of(const Column& column, const Predictions& predictions) {
  Truth truth;
  const size_t rows = column.rows();
  if (predictions.task == Task::kRegression) {
    truth.values.resize(rows);
    for (size_t row = 0; row < rows; ++row) truth.values[row] = column.number(row);
    return truth;
  }
  truth.labels.resize(rows, Truth::kNone);
  const auto label_of = [&](const std::string& value, double number) -> int32_t {
    for (size_t i = 0; i < predictions.labels.size(); ++i) {
      double label;
      if (predictions.labels[i] == value ||
          (!std::isnan(number) && parse_number(predictions.labels[i], label) && label == number))
        return static_cast<int32_t>(i);
    }
    if (predictions.task != Task::kBinary) return Truth::kOther;
    // Against a positive label that is a word, everything else is the other side.
    double label;
    return number == 0 || !parse_number(predictions.labels[1], label) ? 0 : Truth::kOther;
  };
  if (!column.is_numeric()) {
    std::vector<int32_t> of_word;
    for (const std::string& word : column.words) {
      double number = kNaN;
      if (!parse_number(word, number)) number = kNaN;
      of_word.push_back(label_of(word, number));
    }
    for (size_t row = 0; row < rows; ++row)
      if (const uint32_t code = column.code(row); code != kMissing)
        truth.labels[row] = of_word[code];
    return truth;
  }
  double last = kNaN;
  int32_t of_last = Truth::kNone;
  for (size_t row = 0; row < rows; ++row) {
    const double value = column.number(row);
    if (std::isnan(value)) continue;
    if (value != last) {
      last = value;
      of_last = label_of(number_text(value), value);
    }
    truth.labels[row] = of_last;
  }
  return truth;
}

bool is_correct(const Predictions& predictions, const Truth& truth, size_t row, double threshold) {
  const uint32_t said = predictions.predicted(row, threshold);
  if (said == kMissing) return false;
  // A missing truth of a binary task counts as the other side, as in the tables.
  const int32_t actual = truth.labels[row];
  if (predictions.task == Task::kBinary && actual == Truth::kNone) return said == 0;
  return actual == static_cast<int32_t>(said);
}

}  // namespace sonde::whatif
