// The address of a request taken apart: the path prefix and /experiment/<id> removed, percent
// escapes decoded, the query in its order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sonde::http {

struct Target {
  std::string path;  // decoded, begins with '/'
  std::string raw_query;
  std::vector<std::pair<std::string, std::string>> query;
  std::string experiment;
  std::string base;      // what was removed in front: prefix and experiment, still encoded
  std::string redirect;  // not empty: send the client there (a folder's missing slash)
};

// kInvalid for something that is not an address, kNotFound outside `prefix` ("" or "/prefix").
Result<Target> parse_target(std::string_view target, std::string_view prefix);

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view raw);

}  // namespace sonde::http
