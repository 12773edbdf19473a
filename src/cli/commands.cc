#include "cli/commands.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/demo.h"
#include "sonde/version.h"

namespace sonde::cli {

int inspect_command(const Args& args);
int profile_command(const Args& args);

namespace {

int version(const Args&) {
  fmt::print("{}\n", SONDE_VERSION);
  return 0;
}

// One row a command, in the order of `sonde --help`.
constexpr Command kCommands[] = {
    {"inspect", "list the runs, tags, points and damage of a log directory", inspect_command},
    {"profile", "show where a captured step spends its time", profile_command},
    {"demo", "train small models and log everything the dashboards can show", demo},
    {"version", "print the version", version},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

int failed(std::string_view text, int exit_code) {
  fmt::print(stderr, "sonde: {}\n", text);
  return exit_code;
}

int run(int argc, char** argv) {
  Args args(argv + std::min(argc, 1), argv + argc);
  if (args.empty()) return failed("give a command; see sonde --help", 2);
  if (args[0] == "--version") return version(args);
  const auto command = std::ranges::find(kCommands, args[0], &Command::name);
  if (command == std::end(kCommands)) return failed("no command '" + args[0] + "'", 2);
  args.erase(args.begin());
  return command->run(args);
}

}  // namespace sonde::cli
