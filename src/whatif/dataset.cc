#include "whatif/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "image/sniff.h"

namespace sonde::whatif {
namespace {

constexpr size_t kManyWords = 1000;
constexpr double kLongWord = 64;

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kNumeric:
      return "numeric";
    case Kind::kCategorical:
      return "categorical";
    case Kind::kText:
      return "text";
    case Kind::kImage:
      return "image";
  }
  return "";
}

bool Column::is_missing(size_t row) const {
  if (begin(row) == end(row)) return true;
  return is_numeric() ? std::isnan(numbers[begin(row)]) : codes[begin(row)] == kMissing;
}

std::string Column::text(size_t row) const {
  if (is_missing(row)) return "";
  return is_numeric() ? number_text(numbers[begin(row)]) : words[codes[begin(row)]];
}

const Column* Dataset::find(std::string_view name) const {
  const size_t i = index_of(name);
  return i < columns.size() ? &columns[i] : nullptr;
}

size_t Dataset::index_of(std::string_view name) const {
  return static_cast<size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin());
}

std::string number_text(double value) {
  // What was a float in its file shows as one: 0.1, not 0.10000000149011612.
  const auto narrow = static_cast<float>(value);
  const bool is_whole = std::abs(value) < 1e15 && value == std::trunc(value);
  if (is_whole) return fmt::format("{}", static_cast<int64_t>(value));
  return narrow == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}

bool parse_number(std::string_view cell, double& value) {
  cell = trimmed(cell);
  if (cell.starts_with('+')) cell.remove_prefix(1);
  if (cell.empty()) return false;
  const auto [stop, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (problem == std::errc::result_out_of_range) {
    // Too large or too small for a double: what the mantissa's sign and the exponent's say.
    const size_t e = cell.find_first_of("eE");
    const bool is_tiny = e != cell.npos && e + 1 < cell.size() && cell[e + 1] == '-';
    value = is_tiny ? 0 : cell[0] == '-' ? -INFINITY : INFINITY;
  } else if (problem != std::errc()) {
    return false;
  }
  return stop == cell.data() + cell.size();
}

void ColumnBuilder::pad_to(size_t row) {
  while (ends_.size() < row) {
    is_text_ ? codes_.push_back(kMissing) : numbers_.push_back(kNaN);
    ends_.push_back(static_cast<uint32_t>(++elements_));
  }
}

void ColumnBuilder::turn_to_text() {
  is_text_ = true;
  codes_.reserve(numbers_.size());
  for (const double value : numbers_)
    codes_.push_back(std::isnan(value) ? kMissing : words_.id(number_text(value)));
  numbers_ = {};
}

void ColumnBuilder::number(double value, bool is_integer) {
  if (is_text_) {
    if (!std::isnan(value)) return text(number_text(value));
    codes_.push_back(kMissing);
    ++elements_;
    return;
  }
  is_integer_ = is_integer_ && is_integer;
  numbers_.push_back(value);
  ++elements_;
}

void ColumnBuilder::text(std::string_view value) {
  if (!is_text_) turn_to_text();
  codes_.push_back(words_.id(value));
  ++elements_;
}

void ColumnBuilder::end_row(size_t row) {
  // Elements of this row stand behind the last end; rows without any before it come first.
  const size_t begun = ends_.empty() ? 0 : ends_.back();
  const size_t fresh = elements_ - begun;
  if (ends_.size() < row) {
    const size_t gap = row - ends_.size();
    const auto shift = [&](auto& values, auto missing) {
      values.insert(values.end() - static_cast<int64_t>(fresh), gap, missing);
    };
    is_text_ ? shift(codes_, kMissing) : shift(numbers_, kNaN);
    for (size_t i = 0; i < gap; ++i) ends_.push_back(static_cast<uint32_t>(begun + i + 1));
    elements_ += gap;
  }
  if (ends_.size() > row) return;  // ended already
  is_list_ = is_list_ || fresh != 1;
  ends_.push_back(static_cast<uint32_t>(elements_));
}

Column ColumnBuilder::finish(size_t rows) && {
  pad_to(rows);
  Column column;
  column.name = std::move(name_);
  column.is_integer = !is_text_ && is_integer_;
  if (is_list_) {
    column.offsets.reserve(rows + 1);
    column.offsets.push_back(0);
    column.offsets.insert(column.offsets.end(), ends_.begin(), ends_.end());
  }
  column.numbers = std::move(numbers_);
  column.codes = std::move(codes_);
  if (is_text_) {
    column.words.reserve(words_.size());
    for (uint32_t i = 0; i < words_.size(); ++i) column.words.emplace_back(words_.text(i));
    column.kind = kind_of_words(column);
  }
  return column;
}

ColumnBuilder* DatasetBuilder::column(std::string_view name) {
  // Rows name their columns in the same order nearly always.
  const uint32_t id = names_.id(name);
  if (id >= kMaxColumns) return nullptr;
  if (id == columns_.size())
    columns_.push_back(std::make_unique<ColumnBuilder>(to_utf8(name.substr(0, 1000))));
  ++cells_;
  return columns_[id].get();
}

bool DatasetBuilder::end_row() {
  ++rows_;
  return cells_ <= kMaxCells && rows_ * columns_.size() <= kMaxCells;
}

Result<Dataset> DatasetBuilder::finish(std::string name) && {
  Dataset data;
  data.name = std::move(name);
  data.rows = rows_;
  if (rows_ * columns_.size() > kMaxCells) {
    return fail(Code::kTooLarge, fmt::format("{} examples of {} features are more than {} values",
                                             rows_, columns_.size(), kMaxCells));
  }
  for (auto& column : columns_) data.columns.push_back(std::move(*column).finish(rows_));
  return data;
}

Kind kind_of_words(const Column& column) {
  if (column.words.empty()) return Kind::kCategorical;
  if (image::sniff(as_bytes(column.words[0]))) {
    const auto is_image = [](const std::string& word) {
      return image::sniff(as_bytes(word)).has_value();
    };
    const size_t looked = std::min<size_t>(column.words.size(), 16);
    if (std::all_of(column.words.begin(), column.words.begin() + static_cast<int64_t>(looked),
                    is_image))
      return Kind::kImage;
  }
  size_t bytes = 0;
  for (const std::string& word : column.words) bytes += word.size();
  const bool is_long =
      static_cast<double>(bytes) > kLongWord * static_cast<double>(column.words.size());
  return column.words.size() > kManyWords || is_long ? Kind::kText : Kind::kCategorical;
}

}  // namespace sonde::whatif
