#include "log/query/media/distributions.h"

#include <algorithm>

namespace sonde::query {

std::array<Quantile, 9> compressed(const std::vector<event::Bucket>& buckets) {
  static constexpr int32_t kPoints[] = {0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000};
  std::array<Quantile, 9> result;
  for (size_t i = 0; i < result.size(); ++i) result[i].basis_points = kPoints[i];
  if (buckets.empty()) return result;

  double total = 0;
  for (const event::Bucket& bucket : buckets) total += bucket.count;
  std::vector<double> weights;  // cumulative, in basis points
  double sum = 0;
  for (const event::Bucket& bucket : buckets) {
    sum += bucket.count;
    weights.push_back(sum * 10000 / (total == 0 ? 1 : total));
  }
  const double lowest = buckets.front().left, highest = buckets.back().right;
  for (Quantile& quantile : result) {
    const double wanted = quantile.basis_points;
    auto i = static_cast<size_t>(std::upper_bound(weights.begin(), weights.end(), wanted) -
                                 weights.begin());
    const auto before = [&](size_t k) { return k == 0 ? 0.0 : weights[k - 1]; };
    while (i < weights.size() && weights[i] == before(i)) ++i;
    if (i >= weights.size()) {
      quantile.value = highest;
      continue;
    }
    const double left = i == 0 || before(i) == 0 ? lowest : std::max(buckets[i - 1].right, lowest);
    const double right = std::min(buckets[i].right, highest);
    quantile.value = left + (wanted - before(i)) * (right - left) / (weights[i] - before(i));
  }
  return result;
}

}  // namespace sonde::query
