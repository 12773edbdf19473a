// The registry of subcommands. `sonde` without one serves a log directory, as TensorBoard does.
// To add a command: one file src/cli/<command>.cc, one row in commands.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

using Args = std::vector<std::string>;  // what follows the command's name

struct Command {
  std::string_view name;
  std::string_view summary;  // one line of `sonde --help`
  int (*run)(const Args& args);
};

std::span<const Command> commands();

// Runs the program and returns its exit code: 0, 1 for a failure, 2 for wrong usage.
int run(int argc, char** argv);

// Prints "sonde: <text>" on stderr and returns `exit_code`; the only way a command reports failure.
int failed(std::string_view text, int exit_code = 1);

}  // namespace sonde::cli
