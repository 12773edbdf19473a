// The registry of subcommands. `sonde` without one serves a log directory.
#pragma once

namespace sonde::cli {

// Runs the program and returns its exit code: 0, 1 for a failure, 2 for wrong usage.
int run(int argc, char** argv);

}  // namespace sonde::cli
