#include "cli/version.h"

#include <fmt/format.h>

#include <string_view>

#include "sonde/commit.h"
#include "sonde/version.h"

namespace sonde::cli {

std::string version_text() {
  constexpr std::string_view kCommit = SONDE_COMMIT;
  return kCommit.empty() ? SONDE_VERSION : fmt::format("{} ({})", SONDE_VERSION, kCommit);
}

}  // namespace sonde::cli
