#include "whatif/distance.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

namespace sonde::whatif {
namespace {

constexpr size_t kChunk = 4096;

double deviation(const std::vector<double>& values) {
  double mean = 0, m2 = 0, n = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    const double delta = v - mean;
    mean += delta / ++n;
    m2 += delta * (v - mean);
  }
  return n > 0 ? std::sqrt(m2 / n) : 0;
}

struct Shares {
  double same = 0;  // the probability that two examples share the value
  bool all_unique = true;
};

Shares shares_of(const Column& column) {
  std::vector<uint32_t> counts(column.words.size());
  double present = 0;
  for (const uint32_t code : column.codes) {
    if (code == kMissing) continue;
    ++counts[code];
    ++present;
  }
  Shares out;
  for (const uint32_t n : counts) {
    out.same += present > 0 ? n / present * (n / present) : 0;
    out.all_unique = out.all_unique && n <= 1;
  }
  return out;
}

double number_distance(double a, double b, double scale) {
  const double d = std::abs(a - b) * scale;
  if (std::isnan(d))
    return std::isnan(a) || std::isnan(b) ? 1 : 0;  // equal infinities, or no spread
  return d;
}

// Other side of a comparison: the column and row it stands in.
struct Side {
  const Column& column;
  size_t row;
};

double list_distance(const Side& a, const Side& b, const DistanceModel::Feature& feature) {
  const size_t n = a.column.length(a.row), m = b.column.length(b.row), longest = std::max(n, m);
  if (longest == 0) return 0;
  double sum = static_cast<double>(longest - std::min(n, m));
  for (size_t i = 0; i < std::min(n, m); ++i) {
    const size_t p = a.column.begin(a.row) + i, q = b.column.begin(b.row) + i;
    if (a.column.is_numeric() && b.column.is_numeric()) {
      sum += number_distance(a.column.numbers[p], b.column.numbers[q], feature.scale);
    } else if (a.column.is_numeric() != b.column.is_numeric()) {
      sum += feature.difference;
    } else {
      const uint32_t x = a.column.codes[p], y = b.column.codes[q];
      const bool has_null = x == kMissing || y == kMissing;
      sum += has_null ? 1 : a.column.words[x] == b.column.words[y] ? 0 : feature.difference;
    }
  }
  return sum / static_cast<double>(longest);
}

void add(double* into, double d, Metric metric) { *into += metric == Metric::kL1 ? d : d * d; }

// One feature of the rows [begin, end), each against the one example.
void add_feature(const Dataset& data, const DistanceModel::Feature& feature, const Side& one,
                 Metric metric, size_t begin, size_t end, double* out) {
  const Column& column = data.columns[feature.column];
  if (column.is_list() || one.column.is_list() || column.is_numeric() != one.column.is_numeric()) {
    for (size_t row = begin; row < end; ++row)
      add(out + row, list_distance({column, row}, one, feature), metric);
    return;
  }
  if (column.is_numeric()) {
    const double mine = one.column.numbers[one.row], scale = feature.scale;
    const double* numbers = column.numbers.data();
    if (std::isfinite(mine)) {
      // The plain loop is what the compiler turns into vectors; NaN counts as 1.
      for (size_t row = begin; row < end; ++row) {
        const double d = std::abs(numbers[row] - mine) * scale;
        const double known = d == d ? d : 1;
        out[row] += metric == Metric::kL1 ? known : known * known;
      }
      return;
    }
    for (size_t row = begin; row < end; ++row)
      add(out + row, number_distance(numbers[row], mine, scale), metric);
    return;
  }
  // The word's number in this column, which differs when the example is not of it.
  uint32_t mine = one.column.codes[one.row];
  if (mine != kMissing && &one.column != &column) {
    const auto found = std::ranges::find(column.words, one.column.words[mine]);
    mine = found == column.words.end() ? kMissing - 1
                                       : static_cast<uint32_t>(found - column.words.begin());
  }
  for (size_t row = begin; row < end; ++row) {
    const uint32_t code = column.codes[row];
    const double d = code == kMissing || mine == kMissing ? 1
                     : code == mine                       ? 0
                                                          : feature.difference;
    add(out + row, d, metric);
  }
}

std::vector<double> distances(const Dataset& data, const DistanceModel& model, const Dataset& other,
                              size_t row, Metric metric, ThreadPool* pool) {
  std::vector<double> out(data.rows, 0);
  const auto chunk = [&](size_t index) {
    const size_t begin = index * kChunk, end = std::min(data.rows, begin + kChunk);
    for (const DistanceModel::Feature& feature : model.features)
      add_feature(data, feature, {other.columns[feature.column], row}, metric, begin, end,
                  out.data());
    if (metric == Metric::kL2)
      for (size_t i = begin; i < end; ++i) out[i] = std::sqrt(out[i]);
  };
  const size_t chunks = (data.rows + kChunk - 1) / kChunk;
  if (pool) {
    pool->for_each(chunks, chunk);
  } else {
    for (size_t i = 0; i < chunks; ++i) chunk(i);
  }
  return out;
}

}  // namespace

DistanceModel distance_model(const Dataset& data, const std::vector<std::string>& skip) {
  DistanceModel model;
  for (size_t i = 0; i < data.columns.size(); ++i) {
    const Column& column = data.columns[i];
    if (std::ranges::find(skip, column.name) != skip.end()) continue;
    DistanceModel::Feature feature{i, 0, 0};
    if (column.is_numeric()) {
      const double spread = deviation(column.numbers);
      feature.scale = spread > 0 ? 1 / spread : 0;
      feature.difference = 1;
    } else {
      const Shares shares = shares_of(column);
      if (shares.all_unique) continue;
      feature.difference = shares.same;
    }
    model.features.push_back(feature);
  }
  return model;
}

DistanceModel restricted(const DistanceModel& model, const Dataset& data,
                         const std::vector<std::string>& names) {
  DistanceModel out;
  for (const auto& feature : model.features)
    if (std::ranges::find(names, data.columns[feature.column].name) != names.end())
      out.features.push_back(feature);
  return out;
}

std::vector<double> distances_to(const Dataset& data, const DistanceModel& model, size_t row,
                                 Metric metric, ThreadPool* pool) {
  return distances(data, model, data, row, metric, pool);
}

std::vector<double> distances_to(const Dataset& data, const DistanceModel& model,
                                 const Dataset& other, Metric metric, ThreadPool* pool) {
  return distances(data, model, other, 0, metric, pool);
}

std::vector<uint32_t> nearest(const std::vector<double>& distances, size_t count,
                              std::optional<size_t> except) {
  std::vector<uint32_t> order;
  order.reserve(distances.size());
  for (uint32_t i = 0; i < distances.size(); ++i)
    if (!except || i != *except) order.push_back(i);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(),
                    [&](uint32_t a, uint32_t b) {
                      return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
                    });
  order.resize(count);
  return order;
}

std::optional<Counterfactual> nearest_counterfactual(const std::vector<double>& distances,
                                                     const Predictions& predictions, size_t row,
                                                     double threshold, double delta) {
  if (row >= predictions.rows() || predictions.is_missing(row)) return std::nullopt;
  const bool is_regression = predictions.task == Task::kRegression;
  const uint32_t mine = predictions.predicted(row, threshold);
  std::optional<Counterfactual> best;
  for (uint32_t i = 0; i < distances.size() && i < predictions.rows(); ++i) {
    if (i == row || predictions.is_missing(i)) continue;
    const bool differs = is_regression
                             ? std::abs(predictions.scores[i] - predictions.scores[row]) >= delta
                             : predictions.predicted(i, threshold) != mine;
    if (differs && (!best || distances[i] < best->distance)) best = {i, distances[i]};
  }
  return best;
}

double prediction_deviation(const Predictions& predictions) {
  return deviation(predictions.scores);
}

}  // namespace sonde::whatif
