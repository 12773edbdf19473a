#include "http/guard.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/strings.h"

namespace sonde::http {
namespace {

// Whether it opens the door, and for whom.
bool is_key(const Access& access, std::string_view given, Presented& out) {
  out.token = given;
  if (!access.users.empty()) {
    out.user = user_of_token(access.users, given);
    return out.user != nullptr;
  }
  return !access.token.empty() && given.size() == access.token.size() &&
         CRYPTO_memcmp(given.data(), access.token.data(), given.size()) == 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_loopback(const std::string& name) {
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

std::string random_token() {
  unsigned char bytes[16];
  size_t have = 0;
  while (have < sizeof bytes) {
    const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string text;
  for (const unsigned char b : bytes) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  for (const std::string_view part : split(header, ';')) {
    const std::string_view pair = trimmed(part);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
  }
  return {};
}

Presented presented(const Access& access, const Head& head, const Target& target) {
  bool wrong = false;
  Presented out;
  const auto as = [&](Credential how) {
    out.how = how;
    return out;
  };
  if (const std::string_view header = head.header("authorization"); !header.empty()) {
    const size_t space = header.find(' ');
    const std::string scheme = lower(header.substr(0, space));
    if (space != std::string_view::npos && (scheme == "bearer" || scheme == "token")) {
      if (is_key(access, trimmed(header.substr(space)), out)) return as(Credential::kHeader);
      wrong = true;
    }
  }
  if (const auto cookie = cookie_value(head.header("cookie"), access.cookie); !cookie.empty()) {
    // A stale cookie of an earlier start is everyday, not an attack.
    if (is_key(access, cookie, out)) return as(Credential::kCookie);
  }
  for (const auto& [key, value] : target.query) {
    if (key != "token") continue;
    if (is_key(access, value, out)) return as(Credential::kQuery);
    wrong = true;
  }
  out = {};
  return as(wrong ? Credential::kWrong : Credential::kNone);
}

std::string host_name(std::string_view authority) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string() : lower(authority.substr(1, end - 1));
  }
  std::string name = lower(authority.substr(0, authority.find(':')));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool host_allowed(const Access& access, std::string_view host) {
  if (!access.check_host || host.empty()) return true;
  const std::string name = host_name(host);
  return is_loopback(name) || std::ranges::find(access.hosts, name) != access.hosts.end();
}

bool is_foreign(const Access& access, const Head& head) {
  const std::string_view origin = head.header("origin");
  if (!origin.empty() && access.check_origin) {
    const size_t scheme = origin.find("://");
    const std::string_view authority =
        scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
    const bool same = !authority.empty() && lower(authority) == lower(head.header("host"));
    const bool named = !authority.empty() &&
                       std::ranges::find(access.hosts, host_name(authority)) != access.hosts.end();
    if (!same && !named) return true;
  }
  if (head.header("sec-fetch-site") != "cross-site") return false;
  const bool follows_link = head.header("sec-fetch-mode") == "navigate" &&
                            (head.method == "GET" || head.method == "HEAD");
  return origin.empty() && !follows_link;
}

}  // namespace sonde::http
