// What a query may do: read the tables, call functions that only compute. Everything that is not
// known to be harmless is refused.
#pragma once

#include <sqlite3.h>

#include <string>

namespace sonde::capture::sql {

// Must outlive the connection it watches.
class Guard {
 public:
  // Sets limits that hold inside one call of a function, where no time limit reaches, and from now
  // on allows nothing but reading.
  void watch(sqlite3* database);
  // Why the last query was refused; empty when it was not.
  const std::string& refusal() const { return refusal_; }

 private:
  static int decide(void* self, int action, const char* first, const char* second, const char*,
                    const char*);
  int refuse(std::string text);
  std::string refusal_;
};

// SQLite's memory for all queries together; a query beyond it ends with SQLITE_NOMEM.
inline constexpr int64_t kMaxMemoryBytes = 512LL << 20;

}  // namespace sonde::capture::sql
