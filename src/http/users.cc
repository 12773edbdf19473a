#include "http/users.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "base/strings.h"

namespace sonde::http {
namespace {

constexpr std::string_view kRoles[] = {"viewer", "editor", "admin"};
constexpr size_t kHashLetters = 64;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](unsigned char c) {
    return c > ' ' && c != 0x7f && c != '#' && c != ',';
  });
}

}  // namespace

std::string_view role_name(Role role) { return kRoles[static_cast<size_t>(role)]; }

std::optional<Role> parse_role(std::string_view name) {
  const auto* found = std::ranges::find(kRoles, name);
  if (found == std::end(kRoles)) return std::nullopt;
  return static_cast<Role>(found - std::begin(kRoles));
}

Result<std::vector<User>> parse_users(std::string_view text) {
  std::vector<User> users;
  std::set<std::string> names;
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' ')) {
      if (!trimmed(word).empty()) words.push_back(trimmed(word));
    }
    const auto wrong = [&](std::string_view what) {
      return fail(Code::kInvalid, fmt::format("line {}: {}", number, what));
    };
    if (words.size() < 3 || words.size() > 4)
      return wrong("a user is NAME ROLE SHA256-OF-TOKEN, and perhaps PROJECT,PROJECT");
    User user;
    user.name = words[0];
    if (!is_name(user.name) || !names.insert(user.name).second)
      return wrong("the name is not one, or stands here twice");
    const auto role = parse_role(words[1]);
    if (!role) return wrong("a role is viewer, editor or admin");
    user.role = *role;
    user.token_sha256 = words[2];
    const bool is_hash =
        user.token_sha256.size() == kHashLetters &&
        user.token_sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hash && user.token_sha256 != "-")
      return wrong("the third word is the SHA-256 of a token in 64 hexadecimal letters, or -");
    if (words.size() == 4) {
      for (const std::string_view project : split(words[3], ','))
        if (!project.empty()) user.projects.emplace_back(project);
    }
    users.push_back(std::move(user));
  }
  return users;
}

std::string users_text(const std::vector<User>& users) {
  std::string text = "# NAME ROLE SHA256-OF-TOKEN [PROJECT,PROJECT...]\n";
  for (const User& user : users) {
    text += fmt::format("{} {} {}", user.name, role_name(user.role), user.token_sha256);
    for (size_t i = 0; i < user.projects.size(); ++i)
      text += (i == 0 ? " " : ",") + user.projects[i];
    text += "\n";
  }
  return text;
}

std::vector<User> users_of_project(std::vector<User> users, std::string_view project) {
  std::erase_if(users, [&](const User& user) {
    return !user.projects.empty() &&
           std::ranges::find(user.projects, project) == user.projects.end();
  });
  return users;
}

const User* user_of_token(const std::vector<User>& users, std::string_view token) {
  const std::string hash = sha256_hex(token);
  const User* found = nullptr;
  for (const User& user : users) {
    if (user.token_sha256.size() == hash.size() &&
        CRYPTO_memcmp(user.token_sha256.data(), hash.data(), hash.size()) == 0)
      found = &user;
  }
  return found;
}

const User* user_of_name(const std::vector<User>& users, std::string_view name) {
  const auto found = std::ranges::find(users, name, &User::name);
  return found == users.end() ? nullptr : &*found;
}

}  // namespace sonde::http
