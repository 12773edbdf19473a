// Which hyper-parameters matter for a metric: rank correlation, or how much worse a forest of
// regression trees predicts when one column is shuffled. Seeded: the same table, the same answer.
#pragma once

#include <cstdint>
#include <vector>

#include "log/query/hparams/cell.h"

namespace sonde::query {

struct Importance {
  double value = 0, lo = 0, hi = 0;  // lo…hi: 95 %
  size_t n = 0;                      // rows that have the column and the metric
};

// Spearman's rho in -1…1, texts ranked by the mean of the metric they go with; NaN with fewer than
// three rows or without variation. The interval comes from 400 resamples of rows.
Importance spearman(const std::vector<Cell>& column, const std::vector<double>& metric);

// Rise of the out-of-bag error in units of the metric's variance when the column is shuffled; the
// interval comes from the spread over the trees. One entry a column.
std::vector<Importance> permutation(const std::vector<std::vector<Cell>>& columns,
                                    const std::vector<double>& metric);

}  // namespace sonde::query
