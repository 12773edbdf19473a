#include "cli/binding.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "base/strings.h"
#include "io/file.h"

namespace sonde::cli {
namespace {

bool is_loopback(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

// The numeric addresses of a name, in the resolver's order, each once.
std::vector<std::string> resolved(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* a = found; a; a = a->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(a->ai_addr, a->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(addresses, text.data()) == addresses.end()) {
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

bool has_ipv6() {
  const int socket_fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return false;
  ::close(socket_fd);
  return true;
}

// The token of a file; a missing file is made, readable by its owner alone.
Result<std::string> token_of_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) {
    char text[257] = {};
    const ssize_t size = ::read(fd, text, sizeof text - 1);
    struct stat info{};
    const bool is_known = fstat(fd, &info) == 0;
    const bool is_open = is_known && (info.st_mode & 077) != 0;
    ::close(fd);
    if (!is_known || !S_ISREG(info.st_mode))
      return fail(Code::kInvalid, fmt::format("the token file {} is not a regular file", path));
    if (is_open) {
      return fail(Code::kForbidden,
                  fmt::format("others can read the token in {}; run chmod 600 {}", path, path));
    }
    const auto token = trimmed(std::string_view(text, size > 0 ? static_cast<size_t>(size) : 0));
    if (token.size() < 16) {
      return fail(Code::kInvalid,
                  fmt::format("the token in {} is shorter than 16 characters", path));
    }
    return std::string(token);
  }
  std::string token = http::random_token();
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) {
    return fail(Code::kIo, fmt::format("cannot write the token to {}: {}", path,
                                       std::string(strerror(errno))));
  }
  const std::string line = token + "\n";
  const bool written = ::write(made, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(made);
  if (!written) return fail(Code::kIo, fmt::format("cannot write the token to {}", path));
  return token;
}

std::string machine_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  // Shown only if this machine knows itself by that name: otherwise the link would not open.
  return resolved(name.data()).empty() ? "localhost" : name.data();
}

}  // namespace

Result<Binding> binding_of(const ServeOptions& options) {
  Binding binding;
  const bool only_socket = !options.unix_socket.empty() && options.host.empty() &&
                           !options.bind_all && options.port_is_default;
  if (only_socket) return binding;
  if (options.bind_all) {
    binding.addresses = {has_ipv6() ? "::" : "0.0.0.0"};
  } else if (options.host.empty() || options.host == "localhost") {
    binding.addresses = {"127.0.0.1", "::1"};
  } else {
    binding.addresses = resolved(options.host);
    if (binding.addresses.empty()) {
      return fail(Code::kInvalid,
                  fmt::format("--host {} is not an address of this machine", options.host));
    }
  }
  binding.is_loopback = std::ranges::all_of(binding.addresses, is_loopback);
  return binding;
}

Result<http::Access> access_of(const ServeOptions& options, const Binding& binding) {
  http::Access access;
  access.check_host = binding.is_loopback && !binding.addresses.empty();
  for (const std::string& host : options.allow_hosts) {
    access.hosts.push_back(http::host_name(host));
  }
  for (const std::string& site : options.frame_ancestors) {
    const bool is_source = !site.empty() && std::ranges::all_of(site, [](unsigned char c) {
      return c > ' ' && c < 0x7f && c != ';' && c != ',' && c != '\'' && c != '"';
    });
    if (!is_source) {
      return fail(Code::kInvalid,
                  fmt::format("--frame_ancestors '{}' is not the address of a site; write it as "
                              "https://host or https://*.domain",
                              site));
    }
    access.frame_ancestors.push_back(site);
  }
  if (binding.is_loopback && !options.host.empty()) {
    access.hosts.push_back(http::host_name(options.host));
  }
  // Notebooks name the host they proxy through in these variables.
  for (const char* name : {"SONDE_PROXY_URL", "TENSORBOARD_PROXY_URL", "VSCODE_PROXY_URI"}) {
    const char* proxy = std::getenv(name);
    const std::string_view url = proxy ? proxy : "";
    if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
      const std::string_view rest = url.substr(scheme + 3);
      access.hosts.push_back(http::host_name(rest.substr(0, rest.find('/'))));
    }
  }
  const bool wanted = options.auth == "token" || !options.auth_token_file.empty() ||
                      (options.auth == "auto" && !binding.is_loopback);
  const bool any_host = std::ranges::find(options.allow_hosts, "*") != options.allow_hosts.end();
  if (!options.users_file.empty()) {
    constexpr uint64_t kMostBytes = 16 << 20;
    SONDE_TRY(const text, io::read_file(options.users_file, kMostBytes));
    auto users = http::parse_users(text);
    if (!users) return fail(std::move(users.error()).in(options.users_file));
    access.users = http::users_of_project(std::move(*users), options.project);
    if (access.users.empty())
      return fail(Code::kInvalid, options.users_file +
                                      ": no user may see this project; `sonde users " +
                                      options.users_file + " add NAME ROLE` makes one");
    access.user_header = options.user_header;
    std::ranges::transform(access.user_header, access.user_header.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    if (any_host) access.check_host = access.check_origin = false;
    return access;
  }
  if (any_host && !wanted) {
    return fail(Code::kInvalid,
                "--allow_host '*' answers to every name and needs a token: add --auth token");
  }
  if (any_host) access.check_host = access.check_origin = false;
  if (!wanted) return access;
  if (!options.auth_token_file.empty()) {
    SONDE_TRY(token, token_of_file(options.auth_token_file));
    access.token = std::move(token);
  } else if (const char* given = std::getenv("SONDE_TOKEN"); given && *given) {
    if (std::string_view(given).size() < 16) {
      return fail(Code::kInvalid, "the token in SONDE_TOKEN is shorter than 16 characters");
    }
    access.token = given;
  } else {
    access.token = http::random_token();
  }
  return access;
}

std::string url_of(const ServeOptions& options, const Binding& binding, uint16_t port,
                   const std::string& token) {
  std::string host = options.host;
  if (host.empty()) host = options.bind_all ? machine_name() : "localhost";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  std::string url = binding.addresses.empty()
                        ? fmt::format("unix:{}", options.unix_socket)
                        : fmt::format("{}://{}:{}{}/", options.certfile.empty() ? "http" : "https",
                                      host, port, options.path_prefix);
  if (!token.empty()) url += "?token=" + percent_encoded(token);
  return url;
}

}  // namespace sonde::cli
