// The program's entry: everything it can do is a subcommand in src/cli/commands.cc.
#include "cli/commands.h"

int main(int argc, char** argv) { return sonde::cli::run(argc, argv); }
