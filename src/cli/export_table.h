// `sonde export --format parquet|arrow`: one row a point. Columns: run, tag, plugin, step,
// wall_time, value (numbers; null for everything else) and json (what is no number; null for
// numbers).
#pragma once

#include <cstdio>
#include <functional>
#include <string_view>

#include "log/store/store.h"

namespace sonde::cli {

struct TableExport {
  bool is_parquet = true;  // otherwise Arrow
  std::function<bool(std::string_view name)> wants_run, wants_tag;
};

Result<void> export_table(const store::Store& store, const TableExport& wanted, std::FILE* file);

// One row a run: what it is, how long it took, and a column for each hyperparameter (hparam.lr),
// numbers where all of them are.
Result<void> export_runs(const store::Store& store, const TableExport& wanted, std::FILE* file);

// A file a run in folders run=NAME, as Spark, DuckDB and Hive read them.
Result<void> export_partitions(const store::Store& store, const TableExport& wanted,
                               const std::string& folder);

}  // namespace sonde::cli
