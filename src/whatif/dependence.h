// Partial dependence: which values of a feature to try, the examples with them put in, and how
// interesting the resulting lines are. Asking the model is the caller's business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

struct TryValues {
  bool is_numeric = true;
  std::vector<double> numbers;
  std::vector<std::string> words;

  size_t size() const { return is_numeric ? numbers.size() : words.size(); }
};

struct TryRange {
  double low = kNaN, high = kNaN;  // NaN: what was observed
  size_t samples = 10;
};
// Numbers: evenly from low to high, whole ones without repeats. Words: the up to `samples` most
// frequent that occur more than once.
TryValues values_to_try(const Column& column, const TryRange& range);

// Positions of a list like pages of a printer: "0,2,4-6". Empty: all of the first `longest`.
Result<std::vector<size_t>> element_indices(std::string_view pattern, size_t longest);

// Rows of `data` with the element `index` of a feature replaced by each value: for value v and row
// r of `rows`, example v * rows.size() + r. An example that has no such element stays as it is.
Dataset substituted(const Dataset& data, const std::vector<uint32_t>& rows, size_t column,
                    size_t index, const TryValues& values);
// Only these rows.
Dataset selected(const Dataset& data, const std::vector<uint32_t>& rows);

// Numbers: the sum of the steps up and down. Words: highest minus lowest.
double interest_of(const std::vector<double>& line, bool is_numeric);

}  // namespace sonde::whatif
