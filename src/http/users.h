// Who may do what on a team's server: a file with one line a user, "NAME ROLE SHA256-OF-TOKEN
// [PROJECT,PROJECT…]". Tokens themselves are nowhere. Viewers look, editors also change what the
// server keeps (names, notes, uploads, captures), admins also read the audit log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::http {

enum class Role : uint8_t { kViewer, kEditor, kAdmin };
std::string_view role_name(Role role);
std::optional<Role> parse_role(std::string_view name);

struct User {
  std::string name;
  Role role = Role::kViewer;
  std::string token_sha256;           // lower-case hexadecimal; "-": known by a proxy alone
  std::vector<std::string> projects;  // empty: all
};

// kInvalid with the line.
Result<std::vector<User>> parse_users(std::string_view text);
std::string users_text(const std::vector<User>& users);

// Those who may see a project.
std::vector<User> users_of_project(std::vector<User> users, std::string_view project);

// Null when there is none. Takes as long for a wrong token as for a right one.
const User* user_of_token(const std::vector<User>& users, std::string_view token);
const User* user_of_name(const std::vector<User>& users, std::string_view name);

}  // namespace sonde::http
