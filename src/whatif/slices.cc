#include "whatif/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace sonde::whatif {
namespace {

constexpr size_t kMaxBuckets = 100;

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  const double out = std::round(value * scale) / scale;
  return std::isfinite(out) ? out : value;
}

struct Spread {
  double low = INFINITY, high = -INFINITY, deviation = 0;
};

Spread spread_of(const Column& column) {
  Spread spread;
  double mean = 0, m2 = 0, n = 0;
  for (size_t row = 0; row < column.rows(); ++row) {
    const double v = column.number(row);
    if (!std::isfinite(v)) continue;
    spread.low = std::min(spread.low, v);
    spread.high = std::max(spread.high, v);
    const double delta = v - mean;
    mean += delta / ++n;
    m2 += delta * (v - mean);
  }
  spread.deviation = n > 0 ? std::sqrt(m2 / n) : 0;
  return spread;
}

std::vector<double> equal_frequency_edges(const Column& column, size_t buckets) {
  std::vector<double> values;
  for (size_t row = 0; row < column.rows(); ++row)
    if (!std::isnan(column.number(row))) values.push_back(column.number(row));
  std::vector<double> edges;
  size_t from = 0;
  for (size_t i = 1; i < buckets; ++i) {
    const size_t at = values.size() * i / buckets;
    std::nth_element(values.begin() + static_cast<int64_t>(from),
                     values.begin() + static_cast<int64_t>(at), values.end());
    from = at;
    if (edges.empty() || values[at] > edges.back()) edges.push_back(values[at]);
  }
  return edges;
}

// Whether a numeric column has at most `most` values.
bool has_few_values(const Column& column, size_t most) {
  std::set<double> seen;
  for (size_t row = 0; row < column.rows(); ++row) {
    if (column.is_missing(row)) continue;
    seen.insert(column.number(row));
    if (seen.size() > most) return false;
  }
  return true;
}

class Naming {
 public:
  explicit Naming(Groups& groups) : groups_(groups) {}
  uint32_t id(const std::string& name) {
    const auto [at, is_new] = ids_.try_emplace(name, static_cast<uint32_t>(groups_.names.size()));
    if (is_new) groups_.names.push_back(name);
    return at->second;
  }

 private:
  Groups& groups_;
  std::unordered_map<std::string, uint32_t> ids_;
};

constexpr uint32_t kUnset = UINT32_MAX;

void group_words(const Column& column, Groups& out) {
  Naming naming(out);
  std::vector<uint32_t> of_word(column.words.size() + 1, kUnset);
  for (size_t row = 0; row < out.group.size(); ++row) {
    const uint32_t code = column.code(row);
    uint32_t& group = of_word[code == kMissing ? column.words.size() : code];
    if (group == kUnset) group = naming.id(code == kMissing ? "?" : column.words[code]);
    out.group[row] = group;
  }
}

void group_values(const Column& column, Groups& out) {
  Naming naming(out);
  std::map<double, uint32_t> of_value;
  uint32_t missing = kUnset;
  for (size_t row = 0; row < out.group.size(); ++row) {
    const double value = column.number(row);
    if (std::isnan(value)) {
      if (missing == kUnset) missing = naming.id("?");
      out.group[row] = missing;
      continue;
    }
    const auto found = of_value.find(value);
    out.group[row] =
        found != of_value.end() ? found->second : of_value[value] = naming.id(number_text(value));
  }
}

void group_buckets(const Column& column, const std::vector<double>& inner, const Spread& spread,
                   Groups& out) {
  Naming naming(out);
  std::vector<uint32_t> of_bucket(inner.size() + 2, kUnset);
  const auto name = [&](size_t i) {
    const double low = i == 0 ? spread.low : inner[i - 1];
    return i == inner.size() ? fmt::format("[{}, {}]", number_text(low), number_text(spread.high))
                             : fmt::format("[{}, {})", number_text(low), number_text(inner[i]));
  };
  for (size_t row = 0; row < out.group.size(); ++row) {
    const double value = column.number(row);
    const size_t bucket =
        std::isnan(value)
            ? inner.size() + 1
            : static_cast<size_t>(std::ranges::upper_bound(inner, value) - inner.begin());
    uint32_t& group = of_bucket[bucket];
    if (group == kUnset) group = naming.id(bucket > inner.size() ? "?" : name(bucket));
    out.group[row] = group;
  }
}

}  // namespace

std::vector<double> equal_width_edges(double low, double high, double deviation, size_t buckets) {
  std::vector<double> edges;
  const int decimals = deviation > 0 ? 1 - static_cast<int>(std::floor(std::log10(deviation))) : 0;
  for (size_t i = 1; i < buckets; ++i) {
    const double edge = rounded(
        low + (high - low) * static_cast<double>(i) / static_cast<double>(buckets), decimals);
    if (edges.empty() || edge > edges.back()) edges.push_back(edge);
  }
  return edges;
}

Groups groups_of(const Column& column, size_t buckets, Cut cut) {
  Groups out;
  out.feature = column.name;
  out.group.resize(column.rows());
  if (!column.is_numeric()) {
    group_words(column, out);
  } else if (has_few_values(column, buckets)) {
    group_values(column, out);
  } else {
    const Spread spread = spread_of(column);
    const auto edges = cut == Cut::kEqualWidth
                           ? equal_width_edges(spread.low, spread.high, spread.deviation, buckets)
                           : equal_frequency_edges(column, buckets);
    group_buckets(column, edges, spread, out);
  }
  return out;
}

std::string Slice::name() const {
  return keys.empty() ? "all examples" : fmt::format("{}", fmt::join(keys, ", "));
}

Result<Slicing> slice_by(const Dataset& data, const std::vector<SliceBy>& by) {
  if (by.size() > kMaxSliceFeatures)
    return fail(Code::kInvalid,
                fmt::format("slices are made by at most {} features", kMaxSliceFeatures));
  Slicing out;
  out.slice.assign(data.rows, 0);
  if (data.rows == 0) return out;
  out.slices.push_back({});
  for (const SliceBy& one : by) {
    const Column* column = data.find(one.feature);
    if (!column)
      return fail(Code::kNotFound,
                  fmt::format("there is no feature '{}' to slice by", one.feature));
    if (one.buckets < 2 || one.buckets > kMaxBuckets)
      return fail(Code::kInvalid, fmt::format("'buckets' must lie between 2 and {}", kMaxBuckets));
    const Groups groups = groups_of(*column, one.buckets, one.cut);
    const size_t width = groups.names.size();
    if (width > kMaxSlices)
      return fail(Code::kTooLarge, fmt::format("'{}' has {} values; at most {} slices are made",
                                               one.feature, width, kMaxSlices));
    std::vector<uint32_t> of_pair(out.slices.size() * width, kUnset);
    std::vector<Slice> slices;
    for (size_t row = 0; row < data.rows; ++row) {
      uint32_t& slice = of_pair[out.slice[row] * width + groups.group[row]];
      if (slice == kUnset) {
        slice = static_cast<uint32_t>(slices.size());
        if (slices.size() >= kMaxSlices)
          return fail(Code::kTooLarge,
                      fmt::format("these features make more than {} slices", kMaxSlices));
        Slice next{out.slices[out.slice[row]].keys, 0};
        next.keys.push_back(groups.names[groups.group[row]]);
        slices.push_back(std::move(next));
      }
      out.slice[row] = slice;
    }
    out.slices = std::move(slices);
    out.features.push_back(one.feature);
  }
  for (const uint32_t slice : out.slice) ++out.slices[slice].count;
  return out;
}

}  // namespace sonde::whatif
