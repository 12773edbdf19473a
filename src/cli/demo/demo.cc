// `sonde demo DIR`: trains small models and logs as a training program does, so that every
// dashboard has something real to show. Takes a few seconds.
#include "cli/demo/demo.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>

#include "cli/demo/demo_runs.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "usage: sonde demo DIR [--seed N]\n\n"
    "Trains small networks on generated digits, half circles and loans and a policy that adds\n"
    "numbers, and logs everything the dashboards can show into DIR. One run goes wrong on "
    "purpose:\n"
    "the page Numerics names its op.\n"
    "Look at it with: sonde --logdir DIR\n";

}  // namespace

int demo(const Args& args) {
  std::string folder;
  uint32_t seed = 1;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--help" || arg == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (arg == "--seed" && i + 1 < args.size()) {
      const std::string& text = args[++i];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
      if (error != std::errc() || end != text.data() + text.size())
        return failed("--seed must be a whole number, not '" + text + "'", 2);
    } else if (!arg.empty() && arg[0] != '-' && folder.empty()) {
      folder = arg;
    } else {
      return failed("demo does not know '" + arg + "'; see sonde demo --help", 2);
    }
  }
  if (folder.empty()) return failed("demo needs a directory to log into: sonde demo DIR", 2);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error))
    return failed("cannot make the directory " + folder + (error ? ": " + error.message() : ""), 1);
  const ProcessMetrics metrics(folder + "/rollouts");
  train_digits(folder + "/digits", seed);
  train_moons(folder + "/moons", seed);
  train_wrongly(folder + "/moons/naive_loss", seed);
  train_loans(folder + "/loans", seed);
  train_rollouts(folder + "/rollouts", seed);
  write_alert_rules(folder);
  return 0;
}

}  // namespace sonde::cli
