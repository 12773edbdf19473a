#include "log/query/hparams/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>

#include "log/query/series/group.h"

namespace sonde::query {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kResamples = 400, kTrees = 64, kMaxRows = 4000, kMaxDepth = 8, kMinLeaf = 3;

// The same numbers with every standard library.
size_t below(std::mt19937_64& random, size_t limit) {
  return static_cast<size_t>(((random() >> 32) * limit) >> 32);
}

bool is_number(const Cell& cell) {
  return (cell.kind == Cell::Kind::kNumber && std::isfinite(cell.number)) ||
         cell.kind == Cell::Kind::kBool;
}

// Numbers as they are; a column with texts becomes the mean of the metric per text. Missing: NaN.
std::vector<double> encoded(const std::vector<Cell>& column, const std::vector<double>& metric) {
  std::vector<double> out(column.size(), kNaN);
  const bool numeric = std::all_of(column.begin(), column.end(), [](const Cell& cell) {
    return cell.is_missing() || is_number(cell);
  });
  if (numeric) {
    for (size_t i = 0; i < column.size(); ++i) {
      if (is_number(column[i])) out[i] = column[i].number;
    }
    return out;
  }
  std::map<std::string, std::pair<double, size_t>> sums;
  for (size_t i = 0; i < column.size(); ++i) {
    if (column[i].is_missing() || !std::isfinite(metric[i])) continue;
    auto& [sum, count] = sums[text_of(column[i])];
    sum += metric[i];
    ++count;
  }
  for (size_t i = 0; i < column.size(); ++i) {
    const auto found = sums.find(text_of(column[i]));
    if (!column[i].is_missing() && found != sums.end())
      out[i] = found->second.first / static_cast<double>(found->second.second);
  }
  return out;
}

// Ranks with the mean for ties.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<double> out(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) out[order[k]] = (static_cast<double>(i + end) - 1) / 2;
    i = end;
  }
  return out;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  const double ma = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mb = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : kNaN;
}

// A regression tree over encoded columns; missing values go left.
struct Node {
  size_t column = 0;
  double limit = 0;  // x <= limit or missing: left
  double mean = 0;
  uint32_t left = 0, right = 0;  // 0: a leaf
};

class Tree {
 public:
  Tree(const std::vector<std::vector<double>>& columns, const std::vector<double>& metric,
       std::vector<size_t> rows, std::mt19937_64& random)
      : columns_(columns), metric_(metric), random_(random) {
    nodes_.emplace_back();
    grow(0, std::move(rows), 0);
  }

  // `shuffled` says which row a column is read from instead, for one column.
  double predict(size_t row, size_t shuffled_column, size_t shuffled_row) const {
    uint32_t at = 0;
    while (nodes_[at].left != 0) {
      const Node& node = nodes_[at];
      const double x = columns_[node.column][node.column == shuffled_column ? shuffled_row : row];
      at = !(x > node.limit) ? node.left : node.right;
    }
    return nodes_[at].mean;
  }

 private:
  struct Split {
    bool found = false;
    size_t column = 0;
    double limit = 0, gain = 0;
  };

  void grow(uint32_t at, std::vector<size_t> rows, size_t depth) {
    double sum = 0;
    for (const size_t row : rows) sum += metric_[row];
    nodes_[at].mean = sum / static_cast<double>(rows.size());
    if (depth >= kMaxDepth || rows.size() < 2 * kMinLeaf) return;
    const Split split = best_split(rows);
    if (!split.found) return;
    std::vector<size_t> left, right;
    for (const size_t row : rows)
      (!(columns_[split.column][row] > split.limit) ? left : right).push_back(row);
    const auto first = static_cast<uint32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + 2);
    nodes_[at].column = split.column;
    nodes_[at].limit = split.limit;
    nodes_[at].left = first;
    nodes_[at].right = first + 1;
    grow(first, std::move(left), depth + 1);
    grow(first + 1, std::move(right), depth + 1);
  }

  // Looks at a third of the columns (at least one), drawn anew for each node.
  Split best_split(std::vector<size_t>& rows) {
    Split best;
    const size_t tries = std::max<size_t>(1, (columns_.size() + 2) / 3);
    for (size_t t = 0; t < tries; ++t) consider(rows, below(random_, columns_.size()), best);
    return best;
  }

  void consider(std::vector<size_t>& rows, size_t column, Split& best) const {
    const auto& x = columns_[column];
    const auto key = [&](size_t row) { return std::isnan(x[row]) ? -INFINITY : x[row]; };
    std::sort(rows.begin(), rows.end(),
              [&](size_t a, size_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
    double total = 0;
    for (const size_t row : rows) total += metric_[row];
    const auto n = static_cast<double>(rows.size());
    double left = 0;
    for (size_t i = 1; i < rows.size(); ++i) {
      left += metric_[rows[i - 1]];
      if (i < kMinLeaf || rows.size() - i < kMinLeaf || key(rows[i]) == key(rows[i - 1])) continue;
      const auto nl = static_cast<double>(i);
      const double right = total - left;
      const double gain = left * left / nl + right * right / (n - nl) - total * total / n;
      if (gain > best.gain + 1e-12) best = {true, column, key(rows[i - 1]), gain};
    }
  }

  const std::vector<std::vector<double>>& columns_;
  const std::vector<double>& metric_;
  std::mt19937_64& random_;
  std::vector<Node> nodes_;
};

Importance summary_of(std::vector<double> per_tree, size_t n) {
  Importance result{kNaN, kNaN, kNaN, n};
  if (per_tree.empty()) return result;
  const auto count = static_cast<double>(per_tree.size());
  const double mean = std::accumulate(per_tree.begin(), per_tree.end(), 0.0) / count;
  double squares = 0;
  for (const double value : per_tree) squares += (value - mean) * (value - mean);
  const double error = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
  return {mean, mean - 1.96 * error, mean + 1.96 * error, n};
}

}  // namespace

Importance spearman(const std::vector<Cell>& column, const std::vector<double>& metric) {
  const std::vector<double> all = encoded(column, metric);
  std::vector<double> x, y;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!std::isfinite(all[i]) || !std::isfinite(metric[i])) continue;
    x.push_back(all[i]);
    y.push_back(metric[i]);
  }
  Importance result{kNaN, kNaN, kNaN, x.size()};
  if (x.size() < 3) return result;
  result.value = correlation(ranks(x), ranks(y));
  std::mt19937_64 random(1);
  std::vector<double> values, rx(x.size()), ry(x.size());
  for (size_t k = 0; k < kResamples; ++k) {
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t at = below(random, x.size());
      rx[i] = x[at];
      ry[i] = y[at];
    }
    const double value = correlation(ranks(rx), ranks(ry));
    if (std::isfinite(value)) values.push_back(value);
  }
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.lo = quantile(values, 0.025);
  result.hi = quantile(values, 0.975);
  return result;
}

std::vector<Importance> permutation(const std::vector<std::vector<Cell>>& columns,
                                    const std::vector<double>& metric) {
  std::vector<std::vector<double>> x;
  for (const auto& column : columns) x.push_back(encoded(column, metric));
  std::vector<size_t> rows;
  for (size_t i = 0; i < metric.size(); ++i) {
    if (std::isfinite(metric[i])) rows.push_back(i);
  }
  const size_t n = rows.size();
  std::vector<std::vector<double>> rise(columns.size());
  double mean = 0, variance = 0;
  for (const size_t row : rows) mean += metric[row] / static_cast<double>(n);
  for (const size_t row : rows)
    variance += (metric[row] - mean) * (metric[row] - mean) / static_cast<double>(n);
  std::mt19937_64 random(7);
  const size_t draws = std::min(n, kMaxRows);
  for (size_t t = 0; n >= 2 * kMinLeaf && variance > 0 && !columns.empty() && t < kTrees; ++t) {
    std::vector<uint8_t> used(n);
    std::vector<size_t> bag;
    for (size_t i = 0; i < draws; ++i) {
      const size_t at = below(random, n);
      used[at] = 1;
      bag.push_back(rows[at]);
    }
    const Tree tree(x, metric, std::move(bag), random);
    std::vector<size_t> out;
    for (size_t i = 0; i < n && out.size() < kMaxRows; ++i) {
      if (!used[i]) out.push_back(rows[i]);
    }
    if (out.size() < 2) continue;
    std::vector<size_t> shuffled = out;
    for (size_t i = shuffled.size() - 1; i > 0; --i)
      std::swap(shuffled[i], shuffled[below(random, i + 1)]);
    for (size_t c = 0; c < columns.size(); ++c) {
      double error = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const double plain = tree.predict(out[i], SIZE_MAX, 0) - metric[out[i]];
        const double mixed = tree.predict(out[i], c, shuffled[i]) - metric[out[i]];
        error += mixed * mixed - plain * plain;
      }
      rise[c].push_back(error / static_cast<double>(out.size()) / variance);
    }
  }
  std::vector<Importance> result;
  for (size_t c = 0; c < columns.size(); ++c) {
    size_t having = 0;
    for (const size_t row : rows) having += !columns[c][row].is_missing();
    result.push_back(summary_of(rise[c], having));
  }
  return result;
}

}  // namespace sonde::query
