// `sonde profile PATH`: what a capture says, in the terminal or as JSON, CSV or the neutral shape.
#include <fmt/core.h>

#include "base/thread_pool.h"
#include "cli/commands.h"
#include "import/session.h"
#include "profile/render.h"
#include "profile/tool.h"

namespace sonde::cli {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string tool = "overview_page", format = "text", capture, table;
  profile::Options options;
};

int usage(std::string_view problem) {
  fmt::print(stderr,
             "sonde profile: {}\n"
             "usage: sonde profile PATH [--tool NAME] [--host HOST] [--json | --csv | --format "
             "text|json|csv|neutral|xprof]\n",
             problem);
  return 2;
}

}  // namespace

int profile_command(const Args& args) {
  Arguments arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    std::string_view value;
    const auto takes = [&](std::string_view flag) {
      if (word == flag && i + 1 < args.size()) {
        value = args[++i];
        return true;
      }
      if (word.starts_with(flag) && word.size() > flag.size() && word[flag.size()] == '=') {
        value = word.substr(flag.size() + 1);
        return true;
      }
      return false;
    };
    if (takes("--tool")) {
      arguments.tool = value;
    } else if (takes("--format")) {
      arguments.format = value;
    } else if (takes("--host")) {
      arguments.options.host = value;
    } else if (takes("--capture")) {
      arguments.capture = value;
    } else if (word == "--json" || word == "--csv") {
      arguments.format = word.substr(2);
    } else if (word.starts_with("--")) {
      return usage(fmt::format("unknown flag '{}'", word));
    } else {
      arguments.paths.emplace_back(word);
    }
  }
  if (arguments.paths.size() != 1) return usage("give one path of a capture");
  const profile::Tool* tool = profile::find_tool(arguments.tool);
  if (!tool) return usage(fmt::format("unknown tool '{}'", arguments.tool));
  auto files = imports::session_at(arguments.paths[0]);
  if (!files) return failed(files.error().text);
  ThreadPool pool("import", usable_cores());
  auto loaded = imports::load_session(*files, &pool);
  if (!loaded) return failed(loaded.error().text);
  const profile::Session session(std::move(*loaded));
  auto report = profile::run_tool(*tool, session, arguments.options);
  if (!report) return failed(report.error().text);
  if (arguments.format == "neutral") {
    fmt::print("{}\n",
               profile::to_neutral(*report, tool->id,
                                   arguments.capture.empty() ? files->name : arguments.capture));
  } else if (arguments.format == "csv") {
    for (const profile::Table& table : report->tables) {
      fmt::print("{}", profile::to_csv(table));
      break;
    }
  } else {
    fmt::print("{}\n", profile::to_v1_json(*report, SIZE_MAX));
  }
  return 0;
}

}  // namespace sonde::cli
