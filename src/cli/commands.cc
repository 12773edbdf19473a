#include "cli/commands.h"

#include <fmt/core.h>

#include <string_view>

#include "sonde/version.h"

namespace sonde::cli {

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--version") {
    fmt::print("{}\n", SONDE_VERSION);
    return 0;
  }
  fmt::print(stderr, "sonde: give a command\n");
  return 2;
}

}  // namespace sonde::cli
