#include "whatif/statistics.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>

namespace sonde::whatif {
namespace {

constexpr size_t kBuckets = 10;

// Linear between neighbours, like numpy's default.
double interpolated(const std::vector<double>& sorted_around, double position) {
  const auto below = static_cast<size_t>(position);
  const double part = position - static_cast<double>(below);
  if (part == 0 || below + 1 >= sorted_around.size()) return sorted_around[below];
  return sorted_around[below] + part * (sorted_around[below + 1] - sorted_around[below]);
}

// Puts the values of the wanted places (rising) where sorting would put them, and no others: the
// middle one splits the rest.
void settle(std::vector<double>& values, size_t begin, size_t end, std::span<const size_t> places) {
  if (places.empty() || begin >= end) return;
  const size_t middle = places.size() / 2, at = places[middle];
  const auto place = [&](size_t i) { return values.begin() + static_cast<int64_t>(i); };
  std::nth_element(place(begin), place(at), place(end));
  settle(values, begin, at, places.first(middle));
  settle(values, at + 1, end, places.subspan(middle + 1));
}

std::vector<double> quantiles_of(std::vector<double>& values) {
  const double last = static_cast<double>(values.size() - 1);
  const auto position = [&](size_t i) { return last * static_cast<double>(i) / kBuckets; };
  std::vector<size_t> places;
  for (size_t i = 0; i <= kBuckets; ++i) {
    const auto below = static_cast<size_t>(position(i));
    for (const size_t at : {below, below + 1})
      if (at < values.size() && (places.empty() || at > places.back())) places.push_back(at);
  }
  settle(values, 0, values.size(), places);
  std::vector<double> out;
  for (size_t i = 0; i <= kBuckets; ++i) out.push_back(interpolated(values, position(i)));
  return out;
}

double non_uniformity(const std::vector<uint64_t>& counts) {
  double total = 0, entropy = 0;
  for (const uint64_t n : counts) total += static_cast<double>(n);
  if (total == 0 || counts.size() < 2) return 0;
  for (const uint64_t n : counts) {
    if (n == 0) continue;
    const double share = static_cast<double>(n) / total;
    entropy -= share * std::log(share);
  }
  return 1 - entropy / std::log(static_cast<double>(counts.size()));
}

void describe_numbers(const Column& column, ColumnStatistics& out) {
  NumericStatistics& n = out.numeric;
  std::vector<double> values;
  values.reserve(column.numbers.size());
  double sum = 0;
  for (const double v : column.numbers) {
    if (std::isnan(v)) continue;
    if (!std::isfinite(v)) {
      ++n.not_finite;
      continue;
    }
    values.push_back(v);
    sum += v;
    n.zeros += v == 0;
  }
  if (values.empty()) return;
  n.mean = sum / static_cast<double>(values.size());
  double m2 = 0;
  for (const double v : values) m2 += (v - n.mean) * (v - n.mean);
  n.deviation = std::sqrt(m2 / static_cast<double>(values.size()));
  const auto [low, high] = std::ranges::minmax_element(values);
  n.low = *low;
  n.high = *high;
  const double width = (n.high - n.low) / kBuckets;
  n.histogram.assign(kBuckets, 0);
  const double scale = width > 0 && std::isfinite(width) ? 1 / width : 0;
  for (const double v : values)
    ++n.histogram[std::min(kBuckets - 1, static_cast<size_t>((v - n.low) * scale))];
  for (size_t i = 0; i <= kBuckets; ++i)
    n.edges.push_back(i == kBuckets ? n.high : n.low + width * static_cast<double>(i));
  n.quantiles = quantiles_of(values);
  n.median = n.quantiles[kBuckets / 2];
  out.non_uniformity = non_uniformity(n.histogram);
}

// How many rows have how many elements, in buckets of equal width and whole edges.
void describe_lengths(const Column& column, ColumnStatistics& out) {
  const size_t rows = column.rows();
  if (!column.is_list() || rows == 0) return;
  size_t shortest = SIZE_MAX, longest = 0;
  for (size_t row = 0; row < rows; ++row) {
    shortest = std::min(shortest, column.length(row));
    longest = std::max(longest, column.length(row));
  }
  out.mean_list_length = static_cast<double>(column.offsets.back()) / static_cast<double>(rows);
  out.longest_list = static_cast<double>(longest);
  const size_t step = (longest - shortest) / kBuckets + 1;
  out.lengths.assign((longest - shortest) / step + 1, 0);
  for (size_t row = 0; row < rows; ++row) ++out.lengths[(column.length(row) - shortest) / step];
  for (size_t i = 0; i <= out.lengths.size(); ++i)
    out.length_edges.push_back(static_cast<double>(shortest + i * step));
}

std::vector<uint64_t> counts_of(const Column& column) {
  std::vector<uint64_t> counts(column.words.size());
  for (const uint32_t code : column.codes)
    if (code != kMissing) ++counts[code];
  return counts;
}

void describe_words(const Column& column, ColumnStatistics& out) {
  WordStatistics& w = out.words;
  const std::vector<uint64_t> counts = counts_of(column);
  std::vector<uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t top = std::min(order.size(), kTopWords);
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(top), order.end(),
                    [&](uint32_t a, uint32_t b) {
                      return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
                    });
  double bytes = 0, total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    bytes += static_cast<double>(counts[i]) * static_cast<double>(column.words[i].size());
    total += static_cast<double>(counts[i]);
    w.unique += counts[i] > 0;
  }
  w.mean_length = total > 0 ? bytes / total : 0;
  for (size_t i = 0; i < top; ++i) w.top.push_back({column.words[order[i]], counts[order[i]]});
  out.non_uniformity = non_uniformity(counts);
}

double word_drift(const Column& a, const Column& b) {
  std::unordered_map<std::string_view, double> shares;
  double sum = 0;
  const auto add = [&](const Column& column, double sign) {
    const std::vector<uint64_t> counts = counts_of(column);
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (size_t i = 0; i < counts.size() && total > 0; ++i)
      shares[column.words[i]] += sign * static_cast<double>(counts[i]) / total;
    return total > 0;
  };
  if (!add(a, 1) || !add(b, -1)) return kNaN;
  for (const auto& [word, difference] : shares) sum += std::abs(difference);
  return sum / 2;
}

std::vector<double> sorted_values(const Column& column) {
  std::vector<double> values;
  for (const double v : column.numbers)
    if (!std::isnan(v)) values.push_back(v);
  std::ranges::sort(values);
  return values;
}

}  // namespace

ColumnStatistics statistics_of(const Column& column) {
  ColumnStatistics out;
  out.name = column.name;
  out.kind = column.kind;
  const size_t rows = column.rows();
  for (size_t row = 0; row < rows; ++row) out.missing += column.is_missing(row);
  out.count = rows - out.missing;
  describe_lengths(column, out);
  if (column.is_numeric()) {
    describe_numbers(column, out);
  } else {
    describe_words(column, out);
  }
  return out;
}

std::vector<ColumnStatistics> statistics_of(const Dataset& data, ThreadPool* pool) {
  std::vector<ColumnStatistics> out(data.columns.size());
  const auto one = [&](size_t i) { out[i] = statistics_of(data.columns[i]); };
  if (pool) {
    pool->for_each(out.size(), one);
  } else {
    for (size_t i = 0; i < out.size(); ++i) one(i);
  }
  return out;
}

double drift_between(const Column& a, const Column& b) {
  if (a.is_numeric() != b.is_numeric()) return kNaN;
  if (!a.is_numeric()) return word_drift(a, b);
  const std::vector<double> x = sorted_values(a), y = sorted_values(b);
  if (x.empty() || y.empty()) return kNaN;
  double most = 0;
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const double at = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == at) ++i;
    while (j < y.size() && y[j] == at) ++j;
    most = std::max(most, std::abs(static_cast<double>(i) / static_cast<double>(x.size()) -
                                   static_cast<double>(j) / static_cast<double>(y.size())));
  }
  return most;
}

}  // namespace sonde::whatif
