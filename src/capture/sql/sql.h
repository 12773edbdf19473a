// SQL over one host's trace: SQLite reads Sonde's columns through virtual tables (tables.h),
// nothing is copied into it. A query comes from anybody who can reach the page, so it may only
// read, and it is held to limits of rows, bytes and memory; whoever calls says when it has to stop.
// The schema is in docs/sql.md, which a test compares with what is here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/analysis/analysis.h"
#include "capture/report/report.h"
#include "table/parquet_read.h"

namespace sonde::capture::sql {

struct Limits {
  size_t rows = 10'000;
  size_t bytes = 16 << 20;
  // Asked every millisecond or so: a sentence ends the query with that error, empty lets it go on.
  std::function<std::string()> stop = {};
};

struct Answer {
  Table table;      // id "result"; column ids are unique, units follow from their names
  std::string cut;  // "after 10000 rows" when there would have been more; empty otherwise
};

inline constexpr size_t kMaxQueryBytes = 64 << 10;

// One statement that reads. kInvalid with the place in the query when it is not understood or wants
// to do more than read, kTooLarge when it was stopped or ran out of the memory it may have.
Result<Answer> run(const HostAnalysis& host, std::string_view query, const Limits& limits = {});

// The same over tables that are in memory, without a trace: `table` outlives the call.
struct Flat {
  std::string name;
  const table::ParquetTable* table = nullptr;
};
Result<Answer> run(const std::vector<Flat>& tables, std::string_view query,
                   const Limits& limits = {});

struct Described {
  std::string name;
  std::vector<std::string> columns;
};
// The tables and then the views that a query may read.
std::vector<Described> schema();

}  // namespace sonde::capture::sql
