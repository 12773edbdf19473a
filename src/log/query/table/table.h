// Filters, sorts and pages rows of cells. The cells come from a function, which is asked only for
// what is needed: filter and sort columns of all rows, the rest for the page that is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "log/query/hparams/cell.h"

namespace sonde::query {

struct Filter {
  size_t column = 0;
  std::optional<std::vector<Cell>> in;
  std::optional<double> min, max;
  std::optional<Regex> pattern;
  std::optional<bool> missing;
  bool or_missing = false;

  bool passes(const Cell& cell) const;
};

struct SortKey {
  size_t column = 0;
  bool descending = false;
};

struct TableQuery {
  size_t rows = 0;
  std::vector<Filter> filters;
  std::vector<SortKey> sort;
  size_t offset = 0, limit = 0;
};

struct TableResult {
  size_t total = 0;
  std::vector<size_t> rows;  // of the page, in order
};

using CellAt = std::function<Cell(size_t row, size_t column)>;

// `cell` must be safe to call from several threads.
TableResult select(const TableQuery& query, const CellAt& cell, ThreadPool& pool);

}  // namespace sonde::query
