#include "whatif/dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/strings.h"

namespace sonde::whatif {
namespace {

constexpr size_t kMaxIndices = 1000;

// The observed range of whole and finite values.
TryRange observed(const Column& column, TryRange range) {
  double low = INFINITY, high = -INFINITY;
  for (const double v : column.numbers) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (std::isnan(range.low)) range.low = low;
  if (std::isnan(range.high)) range.high = high;
  return range;
}

Result<size_t> index_in(std::string_view text, std::string_view pattern) {
  size_t value = 0;
  text = trimmed(text);
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || stop != text.data() + text.size())
    return fail(Code::kInvalid, fmt::format("'{}' names no elements; write them like 0,2,4-6",
                                            to_utf8(pattern.substr(0, 80))));
  return value;
}

void copy_element(const Column& from, size_t at, ColumnBuilder& to) {
  if (from.is_numeric()) return to.number(from.numbers[at], from.is_integer);
  if (from.codes[at] == kMissing) return to.number(kNaN, true);
  to.text(from.words[from.codes[at]]);
}

Column picked(const Column& column, const std::vector<uint32_t>& rows, size_t times) {
  Column out;
  out.name = column.name;
  out.kind = column.kind;
  out.is_integer = column.is_integer;
  out.words = column.words;
  if (column.is_list()) out.offsets.push_back(0);
  for (size_t i = 0; i < times; ++i) {
    for (const uint32_t row : rows) {
      for (size_t at = column.begin(row); at < column.end(row); ++at)
        column.is_numeric() ? out.numbers.push_back(column.numbers[at])
                            : out.codes.push_back(column.codes[at]);
      if (column.is_list())
        out.offsets.push_back(
            static_cast<uint32_t>(column.is_numeric() ? out.numbers.size() : out.codes.size()));
    }
  }
  return out;
}

}  // namespace

TryValues values_to_try(const Column& column, const TryRange& wanted) {
  TryValues out;
  const size_t samples = std::clamp<size_t>(wanted.samples, 1, 1000);
  out.is_numeric = column.is_numeric();
  if (!column.is_numeric()) {
    std::vector<uint32_t> counts(column.words.size()), order(column.words.size());
    for (const uint32_t code : column.codes)
      if (code != kMissing) ++counts[code];
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    for (const uint32_t code : order) {
      if (out.words.size() == samples || counts[code] < 2) break;
      out.words.push_back(column.words[code]);
    }
    return out;
  }
  const TryRange range = observed(column, wanted);
  if (!std::isfinite(range.low) || !std::isfinite(range.high)) return out;
  for (size_t i = 0; i < samples; ++i) {
    const double part =
        samples == 1 ? 0 : static_cast<double>(i) / static_cast<double>(samples - 1);
    // The last one is the end itself, whatever rounding says.
    double value =
        i + 1 == samples && samples > 1 ? range.high : range.low + (range.high - range.low) * part;
    if (column.is_integer) value = std::trunc(value);
    out.numbers.push_back(value);
  }
  std::ranges::sort(out.numbers);
  if (column.is_integer)
    out.numbers.erase(std::unique(out.numbers.begin(), out.numbers.end()), out.numbers.end());
  return out;
}

Result<std::vector<size_t>> element_indices(std::string_view pattern, size_t longest) {
  std::vector<size_t> out;
  if (trimmed(pattern).empty()) {
    for (size_t i = 0; i < std::min(longest, kMaxIndices); ++i) out.push_back(i);
    return out;
  }
  for (const std::string_view part : split(pattern, ',')) {
    const size_t dash = part.find('-');
    SONDE_TRY(const first, index_in(part.substr(0, dash), pattern));
    size_t last = first;
    if (dash != part.npos) {
      SONDE_TRY(const end, index_in(part.substr(dash + 1), pattern));
      last = end;
    }
    for (size_t i = first; i <= last && i < longest && out.size() < kMaxIndices; ++i)
      out.push_back(i);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Dataset selected(const Dataset& data, const std::vector<uint32_t>& rows) {
  Dataset out;
  out.name = data.name;
  out.rows = rows.size();
  for (const Column& column : data.columns) out.columns.push_back(picked(column, rows, 1));
  return out;
}

Dataset substituted(const Dataset& data, const std::vector<uint32_t>& rows, size_t column,
                    size_t index, const TryValues& values) {
  Dataset out;
  out.name = data.name;
  out.rows = rows.size() * values.size();
  for (size_t i = 0; i < data.columns.size(); ++i) {
    const Column& from = data.columns[i];
    if (i != column) {
      out.columns.push_back(picked(from, rows, values.size()));
      continue;
    }
    ColumnBuilder made(from.name);
    size_t at = 0;
    for (size_t v = 0; v < values.size(); ++v) {
      for (const uint32_t row : rows) {
        for (size_t e = from.begin(row); e < from.end(row); ++e) {
          const bool is_it = e - from.begin(row) == index && !from.is_missing(row);
          if (!is_it)
            copy_element(from, e, made);
          else if (values.is_numeric)
            made.number(values.numbers[v], from.is_integer);
          else
            made.text(values.words[v]);
        }
        made.end_row(at++);
      }
    }
    out.columns.push_back(std::move(made).finish(at));
    out.columns.back().kind = from.kind;
  }
  return out;
}

double interest_of(const std::vector<double>& line, bool is_numeric) {
  if (line.empty()) return 0;
  if (!is_numeric) {
    const auto [low, high] = std::ranges::minmax_element(line);
    return *high - *low;
  }
  double sum = 0;
  for (size_t i = 1; i < line.size(); ++i) sum += std::abs(line[i] - line[i - 1]);
  return sum;
}

}  // namespace sonde::whatif
