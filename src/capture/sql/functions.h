// Functions that SQLite lacks: regexp, percentile, median, ms, us.
#pragma once

#include <sqlite3.h>

namespace sonde::capture::sql {

bool add_functions(sqlite3* database);

}  // namespace sonde::capture::sql
