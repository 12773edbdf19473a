// Where tests find the tree they belong to.
#pragma once

#include <string>

namespace sonde::testing {

// A path below the repository's root: source_path("tests/data/corpus").
std::string source_path(const std::string& relative);

}  // namespace sonde::testing
