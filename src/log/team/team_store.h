// A store that reads a project's tables in ClickHouse instead of a log directory. Keeps what the
// tables say about runs and series, looks for changes every few seconds, fetches points when they
// are asked for. Any number of servers may read the same tables; none of them writes.
#pragma once

#include <memory>
#include <string>

#include "io/remote/clickhouse.h"
#include "log/store/store.h"

namespace sonde::team {

// kIo or kForbidden when the database cannot be asked, kNotFound when nobody has pushed to it.
Result<std::unique_ptr<store::Store>> open_team_store(io::ClickHouse server, std::string project,
                                                      store::Options options);

}  // namespace sonde::team
