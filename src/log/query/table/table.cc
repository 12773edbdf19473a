#include "log/query/table/table.h"

#include <algorithm>
#include <numeric>

namespace sonde::query {
namespace {

// One column for the given rows, made in parallel.
std::vector<Cell> column_of(const std::vector<size_t>& rows, size_t column, const CellAt& cell,
                            ThreadPool& pool) {
  constexpr size_t kPerJob = 256;
  std::vector<Cell> cells(rows.size());
  pool.for_each((rows.size() + kPerJob - 1) / kPerJob, [&](size_t j) {
    for (size_t i = j * kPerJob; i < std::min(rows.size(), (j + 1) * kPerJob); ++i)
      cells[i] = cell(rows[i], column);
  });
  return cells;
}

}  // namespace

bool Filter::passes(const Cell& cell) const {
  if (missing) return cell.is_missing() == *missing;
  if (cell.is_missing()) return or_missing;
  const bool numeric = cell.kind == Cell::Kind::kNumber || cell.kind == Cell::Kind::kBool;
  if (in && std::none_of(in->begin(), in->end(), [&](const Cell& one) {
        return one == cell ||
               (numeric && one.kind != Cell::Kind::kText && one.number == cell.number);
      })) {
    return false;
  }
  if (min && !(numeric && cell.number >= *min)) return false;
  if (max && !(numeric && cell.number <= *max)) return false;
  return !pattern || pattern->found_in(text_of(cell));
}

TableResult select(const TableQuery& query, const CellAt& cell, ThreadPool& pool) {
  std::vector<size_t> rows(query.rows);
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (const Filter& filter : query.filters) {
    const std::vector<Cell> cells = column_of(rows, filter.column, cell, pool);
    std::vector<size_t> kept;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (filter.passes(cells[i])) kept.push_back(rows[i]);
    }
    rows.swap(kept);
  }
  // The last key first: a stable sort then leaves the first key in command.
  for (auto key = query.sort.rbegin(); key != query.sort.rend(); ++key) {
    const std::vector<Cell> cells = column_of(rows, key->column, cell, pool);
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const int result = compare(cells[a], cells[b]);
      if (!key->descending || sorts_last(cells[a]) || sorts_last(cells[b])) return result < 0;
      return result > 0;
    });
    std::vector<size_t> sorted;
    sorted.reserve(rows.size());
    for (const size_t i : order) sorted.push_back(rows[i]);
    rows.swap(sorted);
  }
  TableResult result{rows.size(), {}};
  const size_t begin = std::min(query.offset, rows.size());
  const size_t end = begin + std::min(query.limit, rows.size() - begin);
  result.rows.assign(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                     rows.begin() + static_cast<std::ptrdiff_t>(end));
  return result;
}

}  // namespace sonde::query
