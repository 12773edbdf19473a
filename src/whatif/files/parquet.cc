#include "whatif/files/parquet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "table/parquet_read.h"

namespace sonde::whatif {
namespace {

template <class T>
void keep(std::vector<T>& values, const std::vector<uint32_t>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) values[i] = values[rows[i]];
  values.resize(rows.size());
}

}  // namespace

Result<Dataset> read_parquet(Bytes file, const ReadOptions& options) {
  table::ParquetLimits limits;
  // Row groups are read whole until there are enough rows; with sampling more are needed.
  limits.rows = options.sampling_odds < 1 ? UINT64_MAX : options.max_examples;
  limits.columns = kMaxColumns;
  limits.values = kMaxCells;
  SONDE_TRY(table, table::read_parquet(file, limits));
  Sampler sampler(options);
  std::vector<uint32_t> rows;
  for (uint64_t row = 0; row < table.rows && rows.size() < options.max_examples; ++row)
    if (sampler.keeps()) rows.push_back(static_cast<uint32_t>(row));
  Dataset data;
  data.rows = rows.size();
  for (table::ParquetColumn& from : table.columns) {
    Column column;
    column.name = std::move(from.name);
    column.is_integer = from.is_integer;
    column.numbers = std::move(from.numbers);
    column.codes = std::move(from.codes);
    column.words = std::move(from.words);
    if (std::ranges::any_of(column.words, [](const auto& w) { return w.size() > kMaxCellBytes; }))
      return fail(Code::kTooLarge, fmt::format("column '{}' has a cell of more than {} bytes",
                                               column.name, kMaxCellBytes));
    from.is_text ? keep(column.codes, rows) : keep(column.numbers, rows);
    if (from.is_text) column.kind = kind_of_words(column);
    data.columns.push_back(std::move(column));
  }
  std::vector<std::string> notes;
  if (rows.size() >= options.max_examples && !rows.empty() &&
      rows.back() + uint64_t{1} < table.rows_in_file)
    notes.push_back(fmt::format("only the first {} examples were read", rows.size()));
  if (!table.skipped.empty()) {
    const size_t named = std::min<size_t>(table.skipped.size(), 10);
    notes.push_back(fmt::format(
        "columns that are neither numbers nor texts were left out: {}{}",
        fmt::join(table.skipped.begin(), table.skipped.begin() + static_cast<int64_t>(named), ", "),
        named < table.skipped.size() ? " …" : ""));
  }
  data.note = fmt::format("{}", fmt::join(notes, "; "));
  return data;
}

}  // namespace sonde::whatif
