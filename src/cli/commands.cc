#include "cli/commands.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/demo/demo.h"
#include "cli/help.h"
#include "cli/serve.h"
#include "cli/version.h"

namespace sonde::cli {

int ask_command(const Args& args);
int capture_command(const Args& args);
int data_server_command(const Args& args);
int doctor_command(const Args& args);
int export_command(const Args& args);
int import_command(const Args& args);
int inspect_command(const Args& args);
int licences_command(const Args& args);
int mcp_command(const Args& args);
int numerics_command(const Args& args);
int profile_command(const Args& args);
int push_command(const Args& args);
int sync_command(const Args& args);
int timeline_command(const Args& args);
int users_command(const Args& args);
int watch_command(const Args& args);
int whatif_command(const Args& args);
int worker_command(const Args& args);

namespace {

int version(const Args&) {
  fmt::print("{}\n", version_text());
  return 0;
}

// One row a command, in the order of `sonde --help`.
constexpr Command kCommands[] = {
    {"serve", "serve a log directory (what sonde does without a command)", serve},
    {"inspect", "list the runs, tags, points and damage of a log directory", inspect_command},
    {"export", "write every point as CSV, JSON lines, Parquet or Arrow", export_command},
    {"push", "send every scalar point to ClickHouse", push_command},
    {"import", "write event files of what wandb, MLflow, Trackio, Optuna … left", import_command},
    {"sync", "copy a log directory to or from an object store", sync_command},
    {"ask", "one question about a log directory, answered as a table or JSON", ask_command},
    {"mcp", "let agents read a log directory (Model Context Protocol)", mcp_command},
    {"watch", "tell when a run goes wrong, or end when a metric is reached", watch_command},
    {"profile", "show where a captured step spends its time", profile_command},
    {"numerics", "name the op that made the first NaN", numerics_command},
    {"capture", "record a profile of a program that runs", capture_command},
    {"timeline", "convert, merge, compare and summarise traces", timeline_command},
    {"worker", "turn captures into Parquet files that merge over ranks", worker_command},
    {"users", "who may use a team's server, and what for", users_command},
    {"data_server", "answer TensorBoard's own questions, as its data server", data_server_command},
    {"whatif", "probe a model: examples, predictions, slices, thresholds", whatif_command},
    {"demo", "train small models and log everything the dashboards can show", demo},
    {"doctor", "say what is wrong on this machine and how to mend it", doctor_command},
    {"licences", "print the licences of the libraries inside", licences_command},
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
  if (args.empty()) args = {"--help"};
  const bool asks_help = args[0] == "--help" || args[0] == "-h" || args[0] == "--helpfull";
  if (asks_help || (args[0] == "help" && args.size() == 1)) {
    fmt::print("{}", help());
    return 0;
  }
  if (args[0] == "help") args = {args[1], "--help"};
  const auto command = std::ranges::find(kCommands, args[0], &Command::name);
  if (command == std::end(kCommands)) {
    // How TensorBoard starts the program that TENSORBOARD_DATA_SERVER_BINARY names.
    const auto is_port_file = [](const std::string& arg) { return arg.starts_with("--port-file"); };
    if (std::ranges::any_of(args, is_port_file)) return data_server_command(args);
    return serve(args);
  }
  args.erase(args.begin());
  return command->run(args);
}

}  // namespace sonde::cli
