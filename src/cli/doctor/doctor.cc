// `sonde doctor [LOGDIR]`: one screen that says what is wrong on this machine and how to mend it.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <string>
#include <thread>

#include "cli/commands.h"
#include "cli/doctor/machine.h"
#include "cli/flags.h"
#include "cli/version.h"
#include "codec/json.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde doctor [LOGDIR] [--port N] [--json]\n"
    "\n"
    "Looks at the log directory, the port, limits, memory, drivers and running servers, and\n"
    "says what is wrong and how to mend it. The exit code is 1 when something is wrong.\n";

std::string_view word(State state) {
  switch (state) {
    case State::kFine:
      return "ok";
    case State::kNote:
      return "note";
    case State::kWrong:
      return "WRONG";
  }
  return "";
}

void print_text(const std::vector<Finding>& findings) {
  utsname kernel{};
  ::uname(&kernel);
  fmt::print("Sonde {}, {} {}, {} processors\n\n", version_text(), kernel.sysname, kernel.release,
             std::thread::hardware_concurrency());
  for (const Finding& finding : findings) {
    fmt::print("  {:<6} {:<16} {}\n", word(finding.state), finding.subject, finding.says);
    if (!finding.mend.empty()) fmt::print("  {:<6} {:<16} -> {}\n", "", "", finding.mend);
  }
}

void print_json(const std::vector<Finding>& findings) {
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("version").string(version_text());
    json.key("findings").array([&] {
      for (const Finding& finding : findings) {
        json.object([&] {
          json.key("subject").string(finding.subject);
          json.key("state").string(word(finding.state));
          json.key("says").string(finding.says);
          json.key("mend").string(finding.mend);
        });
      }
    });
  });
  fmt::print("{}\n", body);
}

}  // namespace

int doctor_command(const Args& args) {
  for (const std::string& argument : args) {
    if (argument == "--help" || argument == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
  }
  Machine machine = this_machine();
  int64_t port = machine.port;
  bool json = false;
  Flags flags("sonde doctor");
  flags.positional("logdir", machine.logdir);
  flags.text("logdir", machine.logdir);
  flags.integer("port", port, 1, 65535);
  flags.on("json", json);
  if (auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  machine.port = static_cast<uint16_t>(port);
  machine.port_is_default = !flags.given("port");
  std::vector<Finding> findings;
  bool wrong = false;
  for (const Check& check : checks()) {
    findings.push_back(check.look(machine));
    wrong = wrong || findings.back().state == State::kWrong;
  }
  if (json) {
    print_json(findings);
  } else {
    print_text(findings);
  }
  return wrong ? 1 : 0;
}

}  // namespace sonde::cli
