// `sonde users FILE`: who may use a team's server. A token is shown once, when it is made; the file has
// its hash.
#include "http/users.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/sha256.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/logdir.h"
#include "http/guard.h"
#include "io/file.h"
#include "io/write_file.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde users FILE                        list them\n"
    "sonde users FILE add NAME ROLE          add a user, or give one a new token and role; prints\n"
    "                                        the token, which is stored nowhere\n"
    "sonde users FILE remove NAME\n"
    "\n"
    "For sonde --users FILE. Viewers look, editors also change names and notes, upload and start\n"
    "captures, admins also read the audit log (docs/warehouse.md).\n"
    "\n"
    "  --projects A,B                        of add: only these projects (--store, --project)\n"
    "  --no_token                            of add: known by a proxy alone (--user_header)\n";

}  // namespace

int users_command(const Args& args) {
  if (asks_for_help(args) || args.empty()) {
    fmt::print("{}", kHelp);
    return args.empty() ? 2 : 0;
  }
  std::vector<std::string> words;
  std::string projects;
  bool has_no_token = false;
  Flags flags("sonde users");
  flags.rest("word", words);
  flags.text("projects", projects);
  flags.on("no_token", has_no_token);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  if (words.empty()) return failed("users: give a file", 2);
  const std::string& path = words[0];
  constexpr uint64_t kMostBytes = 16 << 20;
  const auto text = io::read_file(path, kMostBytes);
  if (!text && text.error().code != Code::kNotFound) return failed(text.error().text);
  auto users = http::parse_users(text ? *text : "");
  if (!users) return failed(path + ": " + users.error().text);
  if (words.size() == 1) {
    for (const http::User& user : *users)
      fmt::print("{}\t{}\n", user.name, http::role_name(user.role));
    return 0;
  }
  const bool adds = words[1] == "add" && words.size() == 4;
  if (!adds && !(words[1] == "remove" && words.size() == 3)) return failed("users: see --help", 2);
  const std::string& name = words[2];
  const auto known = std::ranges::find(*users, name, &http::User::name);
  if (!adds) {
    if (known == users->end()) return failed("there is no user " + name);
    users->erase(known);
  }
  std::string token;
  if (adds) {
    const auto role = http::parse_role(words[3]);
    if (!role) return failed("a role is viewer, editor or admin", 2);
    http::User user{name, *role, "-", {}};
    if (!has_no_token) {
      token = http::random_token();
      user.token_sha256 = sha256_hex(token);
    }
    for (const std::string_view project : split(projects, ','))
      if (!project.empty()) user.projects.emplace_back(project);
    if (known == users->end()) {
      users->push_back(std::move(user));
    } else {
      *known = std::move(user);
    }
  }
  const std::string written = http::users_text(*users);
  if (const auto good = http::parse_users(written); !good) return failed(good.error().text, 2);
  if (const auto done = io::write_whole(path, written); !done) return failed(done.error().text);
  if (!token.empty()) fmt::print("{}\n", token);
  return 0;
}

}  // namespace sonde::cli
