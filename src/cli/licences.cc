// `sonde licences [NAME]`: the libraries this program carries and their licences. The texts are the
// folder LICENSES of the tree, put into the program by cmake/licences.cmake.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "cli/commands.h"

extern "C" {
extern const char sonde_licences_begin[];
extern const char sonde_licences_end[];
}

namespace sonde::cli {
namespace {

// Between two texts stands a line of this and the next one's name.
constexpr std::string_view kMark = "\n\x1e";

struct Text {
  std::string_view name, body;
};

std::vector<Text> texts() {
  std::string_view rest(sonde_licences_begin,
                        static_cast<size_t>(sonde_licences_end - sonde_licences_begin));
  std::vector<Text> list;
  while (!rest.empty()) {
    const size_t start = rest.find(kMark);
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start + kMark.size());
    const size_t line = rest.find('\n');
    const size_t next = std::min(rest.find(kMark), rest.size());
    list.push_back({rest.substr(0, line), rest.substr(line + 1, next - line - 1)});
    rest.remove_prefix(next);
  }
  return list;
}

}  // namespace

int licences_command(const Args& args) {
  const auto list = texts();
  if (args.empty()) {
    fmt::print("Sonde is under the Apache License 2.0 and carries:\n\n");
    for (const Text& text : list) fmt::print("  {}\n", text.name);
    fmt::print("\nsonde licences NAME prints one text, sonde licences --all prints them all.\n");
    return 0;
  }
  if (args[0] == "--help" || args[0] == "-h") {
    fmt::print(
        "sonde licences [NAME | --all]\n\nLists the libraries inside the program and the "
        "page, or prints their licences.\n");
    return 0;
  }
  bool found = false;
  for (const Text& text : list) {
    if (args[0] != "--all" && args[0] != text.name) continue;
    if (args[0] == "--all") fmt::print("{:=<79}\n{}\n{:=<79}\n", "", text.name, "");
    fmt::print("{}\n", trimmed(text.body));
    found = true;
  }
  return found ? 0
               : failed(fmt::format("there is no licence of '{}'; sonde licences lists them",
                                    args[0]));
}

}  // namespace sonde::cli
