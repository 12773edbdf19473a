// Examples as columns: a feature is a list of numbers or of byte strings per example, nearly always
// of one element, and then no list is kept. NaN stands for a missing number, kMissing for a missing
// text. Knows no file; readers fill it through ColumnBuilder.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/intern.h"
#include "base/result.h"

namespace sonde::whatif {

inline constexpr uint32_t kMissing = UINT32_MAX;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// More columns than that are a file that is read the wrong way round.
inline constexpr size_t kMaxColumns = 10'000;
inline constexpr size_t kMaxCells = 200'000'000;
inline constexpr size_t kMaxCellBytes = 16 << 20;

enum class Kind : uint8_t { kNumeric, kCategorical, kText, kImage };
std::string_view name_of(Kind kind);

struct Column {
  std::string name;
  Kind kind = Kind::kNumeric;
  bool is_integer = false;         // every number is a whole one and was written as one
  std::vector<double> numbers;     // one an element, of a numeric column
  std::vector<uint32_t> codes;     // one an element, of any other: which word
  std::vector<std::string> words;  // in the order of their first appearance
  std::vector<uint32_t> offsets;   // rows + 1 of them, only when some list has not one element

  bool is_numeric() const { return kind == Kind::kNumeric; }
  bool is_list() const { return !offsets.empty(); }
  size_t rows() const {
    return is_list() ? offsets.size() - 1 : is_numeric() ? numbers.size() : codes.size();
  }
  size_t begin(size_t row) const { return is_list() ? offsets[row] : row; }
  size_t end(size_t row) const { return is_list() ? offsets[row + 1] : row + 1; }
  size_t length(size_t row) const { return end(row) - begin(row); }

  // The first element; NaN when there is none or it is text.
  double number(size_t row) const {
    return is_numeric() && begin(row) < end(row) ? numbers[begin(row)] : kNaN;
  }
  // The first element's word; kMissing when there is none or the column is numeric.
  uint32_t code(size_t row) const {
    return !is_numeric() && begin(row) < end(row) ? codes[begin(row)] : kMissing;
  }
  bool is_missing(size_t row) const;
  // The first element as text; empty when missing.
  std::string text(size_t row) const;
};

struct Dataset {
  std::string name;
  size_t rows = 0;
  std::vector<Column> columns;
  std::string note;  // what was left out and why; empty: nothing

  const Column* find(std::string_view name) const;
  size_t index_of(std::string_view name) const;  // columns.size() when there is none
};

// The shortest text of a number that reads back the same: "3", "0.25".
std::string number_text(double value);
// A cell that is a number: spaces around it and a plus sign are allowed, words are not.
bool parse_number(std::string_view cell, double& value);

// Collects one column row by row. Numbers turn into text when the first text arrives.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(std::string name) : name_(std::move(name)) {}

  void number(double value, bool is_integer);
  void text(std::string_view value);
  // Ends the row; rows that were never begun before `row` are missing.
  void end_row(size_t row);
  Column finish(size_t rows) &&;

 private:
  void pad_to(size_t row);
  void turn_to_text();

  std::string name_;
  bool is_text_ = false, is_integer_ = true, is_list_ = false;
  std::vector<double> numbers_;
  std::vector<uint32_t> codes_;
  StringTable words_;
  std::vector<uint32_t> ends_;  // of each finished row
  size_t elements_ = 0;
};

// Rows of named values, in any order and with gaps. Refuses more columns or cells than the limits.
class DatasetBuilder {
 public:
  // The column of that name, made when it is new; nullptr beyond kMaxColumns.
  ColumnBuilder* column(std::string_view name);
  // False when the data set became too large.
  bool end_row();
  size_t rows() const { return rows_; }
  Result<Dataset> finish(std::string name) &&;

 private:
  StringTable names_;
  std::vector<std::unique_ptr<ColumnBuilder>> columns_;
  size_t rows_ = 0, cells_ = 0;
};

// Decides between categorical, text and image by the words.
Kind kind_of_words(const Column& column);

}  // namespace sonde::whatif
