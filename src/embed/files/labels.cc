#include "embed/files/labels.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/strings.h"

namespace sonde::embed {
namespace {

constexpr size_t kMaxColumns = 1000;

std::optional<double> number_of(std::string_view cell) {
  cell = trimmed(cell);
  double value = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || error != std::errc() || stop != cell.data() + cell.size())
    return std::nullopt;
  return value;
}

void find_numbers(LabelColumn& column) {
  std::vector<double> of_word;
  bool any = false;
  for (const std::string& word : column.words) {
    const auto number = number_of(word);
    if (!number && !trimmed(word).empty()) return;
    any = any || number;
    of_word.push_back(number.value_or(NAN));
  }
  if (!any) return;
  column.is_number = true;
  for (const uint32_t code : column.codes) column.numbers.push_back(of_word[code]);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// The header's names, taking its line away; made up where the file has none.
std::vector<std::string> take_header(std::vector<std::string_view>& lines, size_t rows,
                                     Labels& labels) {
  const std::vector<std::string_view> first = split(lines[0], '\t');
  std::vector<std::string> names;
  const bool is_single = first.size() == 1;
  const bool has_header = is_single ? lines.size() == rows + 1 : lines.size() != rows;
  if (is_single && has_header)
    labels.warnings.push_back(
        "the metadata has one line more than there are points: its first line is taken as a "
        "header");
  if (!is_single && !has_header)
    labels.warnings.push_back(
        "the metadata has several columns and as many lines as there are points: it is taken to "
        "have no header");
  for (size_t i = 0; i < std::min(first.size(), kMaxColumns); ++i) {
    std::string name = has_header ? to_utf8(trimmed(first[i])) : "";
    if (name.empty()) name = is_single ? "label" : fmt::format("column {}", i + 1);
    for (const std::string& earlier : names) {
      if (earlier == name) name += fmt::format(" ({})", i + 1);
    }
    names.push_back(std::move(name));
  }
  if (first.size() > kMaxColumns)
    labels.warnings.push_back(fmt::format("the metadata has {} columns; the first {} are shown",
                                          first.size(), kMaxColumns));
  if (has_header) lines.erase(lines.begin());
  return names;
}

class ColumnBuilder {
 public:
  explicit ColumnBuilder(std::string name) { column_.name = std::move(name); }

  void add(std::string_view value) {
    const auto found = codes_.find(std::string(value));
    if (found != codes_.end()) return column_.codes.push_back(found->second);
    const auto code = static_cast<uint32_t>(column_.words.size());
    column_.words.push_back(to_utf8(value));
    codes_.emplace(std::string(value), code);
    column_.codes.push_back(code);
  }

  LabelColumn finish() {
    find_numbers(column_);
    return std::move(column_);
  }

 private:
  LabelColumn column_;
  std::unordered_map<std::string, uint32_t> codes_;
};

}  // namespace

const LabelColumn* Labels::find(std::string_view name) const {
  for (const LabelColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

LabelColumn label_column(std::string name, const std::vector<std::string>& values) {
  ColumnBuilder builder(std::move(name));
  for (const std::string& value : values) builder.add(value);
  return builder.finish();
}

Labels parse_labels(std::string_view text, size_t rows) {
  Labels labels;
  std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) {
    labels.warnings.push_back("the metadata file is empty");
    return labels;
  }
  const std::vector<std::string> names = take_header(lines, rows, labels);
  if (lines.size() != rows) {
    labels.warnings.push_back(fmt::format(
        "there are {} points and {} lines of metadata; {}", rows, lines.size(),
        lines.size() < rows ? "the last points have no metadata" : "the last lines are not used"));
  }
  std::vector<ColumnBuilder> builders;
  for (const std::string& name : names) builders.emplace_back(name);
  for (size_t row = 0; row < rows; ++row) {
    const auto cells =
        row < lines.size() ? split(lines[row], '\t') : std::vector<std::string_view>();
    for (size_t i = 0; i < builders.size(); ++i)
      builders[i].add(i < cells.size() ? cells[i] : std::string_view());
  }
  for (ColumnBuilder& builder : builders) labels.columns.push_back(builder.finish());
  return labels;
}

}  // namespace sonde::embed
