// The tables a query can read, and the views over them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/sql/model.h"
#include "capture/sql/virtual_table.h"
#include "table/parquet_read.h"

namespace sonde::capture::sql {

std::unique_ptr<Source> slices_table(Model& model);
std::unique_ptr<Source> args_table(Model& model);
std::unique_ptr<Source> counters_table(Model& model);
std::unique_ptr<Source> flows_table(Model& model);
std::unique_ptr<Source> names_table(Model& model);
std::unique_ptr<Source> tracks_table(Model& model);
std::unique_ptr<Source> track_args_table(Model& model);
std::unique_ptr<Source> steps_table(Model& model);
std::unique_ptr<Source> metadata_table(Model& model);

std::vector<std::unique_ptr<Source>> all_tables(Model& model);
std::unique_ptr<Source> flat_table(std::string name, const table::ParquetTable& table);

struct View {
  const char* name;
  const char* columns;  // in order, for people who look for one
  const char* select;
};
std::span<const View> all_views();

// Shared by the tables with arguments.
void put_argument(sqlite3_context* out, const trace::Trace& trace, const trace::ArgValue& value);
const char* type_name(trace::ArgType type);

}  // namespace sonde::capture::sql
