#include "cli/help.h"

#include <fmt/format.h>

#include "cli/commands.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kStart =
    "sonde shows training logs and profiles in the browser, as TensorBoard does.\n"
    "\n"
    "  sonde logs/                  serve a log directory on http://localhost:6006/\n"
    "  sonde --logdir logs --port 0 --bind_all\n"
    "                               any free port, open to the network with a token\n"
    "\n"
    "Commands (sonde COMMAND --help says more):\n";

constexpr std::string_view kFlags =
    "\n"
    "Serving (all flags of tensorboard are accepted; docs/cli.md lists every one):\n"
    "  --logdir DIR             directory to look for runs in, now and later\n"
    "  --store clickhouse://... a team's tables instead of a directory (sonde push)\n"
    "  --port N                 default: 6006 or the next free one; 0: any free one\n"
    "  --host ADDR              address to listen on (default: this machine only)\n"
    "  --bind_all               listen on every address; asks for a token\n"
    "  --path_prefix /P         serve below /P, for a proxy\n"
    "  --reload_interval SEC    seconds between looks where needed; 0: once\n"
    "  --max_memory SIZE        memory for columns, e.g. 8G (default: half)\n"
    "  --index                  keep what large files hold for the next start\n"
    "  --sidecar off|DIR        place of names, notes, views (default: logdir)\n"
    "  --read_only              never write names, notes and views\n"
    "\n"
    "Safety:\n"
    "  --auth auto|token|none   token: ask for one (auto: when open to the network)\n"
    "  --auth_token_file FILE   keep the token there, for the next start too\n"
    "  --allow_host NAME        also answer to this name (a proxy's), '*': to any\n"
    "  --certfile F --keyfile F serve HTTPS\n"
    "  --version                print the version    --help   this text\n";

}  // namespace

std::string help() {
  std::string text(kStart);
  for (const Command& command : commands()) {
    text += fmt::format("  {:<12} {}\n", command.name, command.summary);
  }
  return text + std::string(kFlags);
}

}  // namespace sonde::cli
