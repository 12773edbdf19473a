// The numerics dumps (tfdbg V2) of a log directory, found when asked for and kept while the
// program runs; each answer reads what the files gained since the last one. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "numerics/dump.h"

namespace sonde::api {

class NumericsDumps {
 public:
  struct Listing {
    std::vector<std::shared_ptr<numerics::Dump>> dumps;  // by name
    std::vector<std::string> problems;                   // metadata files that cannot be read
  };
  // Looked for again every five seconds; nothing is read yet.
  Listing list(const Context& context);

  // The dump of that name, up to date. kNotFound, naming it.
  Result<std::shared_ptr<numerics::Dump>> find(const Context& context, std::string_view name);

 private:
  std::mutex mutex_;  // guards: everything below
  Listing listing_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace sonde::api
