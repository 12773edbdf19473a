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

}  // namespace sonde::cli
