#include "tests/support/paths.h"

namespace sonde::testing {

std::string source_path(const std::string& relative) {
  return std::string(SONDE_SOURCE_DIR) + "/" + relative;
}

}  // namespace sonde::testing
