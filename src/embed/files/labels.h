// The metadata of an embedding: a line a point, columns between tabs. With one column there is no
// header, with several the first line is one; files that break the rule by exactly one line are
// understood and said so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::embed {

struct LabelColumn {
  std::string name;
  bool is_number = false;          // every value that is there is a number
  std::vector<double> numbers;     // of a column of numbers; NaN where there is none
  std::vector<std::string> words;  // distinct values in order of appearance
  std::vector<uint32_t> codes;     // per point, into words

  std::string_view text(size_t row) const { return words[codes[row]]; }
};

struct Labels {
  std::vector<LabelColumn> columns;
  std::vector<std::string> warnings;  // sentences for people

  const LabelColumn* find(std::string_view name) const;
};

// Every column has `rows` entries; missing lines are empty values.
Labels parse_labels(std::string_view text, size_t rows);

// One column of given values.
LabelColumn label_column(std::string name, const std::vector<std::string>& values);

}  // namespace sonde::embed
