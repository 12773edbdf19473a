// The checks that look for running servers: the port, the registry of TensorBoard's manager, and
// how a Sonde that already shows these logs is doing.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "base/strings.h"
#include "cli/doctor/machine.h"
#include "codec/json_read.h"
#include "sonde/version.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostServers = 200;
constexpr size_t kMostAnswer = 4 << 20;
constexpr timeval kPatience{2, 0};

struct Socket {
  int fd;
  explicit Socket() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
};

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct Server {
  int64_t pid = 0;
  uint16_t port = 0;
  std::string logdir, prefix, version, name;  // name: the program's own
  bool alive = false;
};

std::string text_of(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  return member && member->is_string() ? member->text : std::string();
}

std::optional<Server> server_of(const Machine& machine, const std::string& path) {
  const auto json = read_json(read_small(path));
  if (!json || !json->is_object()) return std::nullopt;
  Server server{.logdir = text_of(*json, "logdir"),
                .prefix = text_of(*json, "path_prefix"),
                .version = text_of(*json, "version"),
                .name = ""};
  const JsonValue* pid = json->find("pid");
  const JsonValue* port = json->find("port");
  if (!pid || !port) return std::nullopt;
  server.pid = pid->integer().value_or(0);
  const int64_t number = port->integer().value_or(0);
  if (server.pid <= 0 || number < 0 || number > 65535) return std::nullopt;
  server.port = static_cast<uint16_t>(number);
  server.name = trimmed(read_small(fmt::format("{}/{}/comm", machine.proc, server.pid)));
  server.alive = !server.name.empty();
  return server;
}

std::vector<Server> servers(const Machine& machine) {
  std::vector<Server> list;
  std::error_code error;
  for (fs::directory_iterator at(machine.temporary + "/.tensorboard-info", error), end;
       !error && at != end && list.size() < kMostServers; at.increment(error)) {
    if (auto server = server_of(machine, at->path().string())) list.push_back(std::move(*server));
  }
  return list;
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  return !a.empty() && !b.empty() && (a == b || fs::equivalent(a, b, error));
}

std::string called(const Server& server) {
  return fmt::format("{} {} (process {}) on port {}",
                     server.name == "sonde" ? "Sonde" : "TensorBoard", server.version, server.pid,
                     server.port);
}

// The body of a GET answered with 200; what went wrong otherwise.
Result<std::string> ask(const Server& server, std::string_view path) {
  const Socket socket;
  const sockaddr_in address = loopback(server.port);
  ::setsockopt(socket.fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket.fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (::connect(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Code::kBusy, "it does not take connections");
  const std::string request =
      fmt::format("GET {}{} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n",
                  server.prefix, path, server.port);
  if (::send(socket.fd, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return fail(Code::kBusy, "it does not take requests");
  std::string answer;
  std::string part(64 * 1024, '\0');
  while (answer.size() < kMostAnswer) {
    const ssize_t got = ::recv(socket.fd, part.data(), part.size(), 0);
    if (got < 0) return fail(Code::kBusy, "it does not answer within 2 s");
    if (got == 0) break;
    answer.append(part.data(), static_cast<size_t>(got));
  }
  const size_t body = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || body == std::string::npos)
    return fail(Code::kInvalid, "its answer is not HTTP");
  if (answer.compare(9, 3, "200") != 0)
    return fail(Code::kBusy, fmt::format("it answers {}", answer.substr(9, 3)));
  return answer.substr(body + 4);
}

}  // namespace

Finding check_port(const Machine& machine) {
  Finding finding{.subject = "port", .says = fmt::format("{} is free", machine.port), .mend = ""};
  const Socket socket;
  const int on = 1;
  ::setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(machine.port);
  if (::bind(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(socket.fd, 1) == 0)
    return finding;
  const int error = errno;
  if (error == EACCES) {
    finding.state = State::kWrong;
    finding.says = fmt::format("{} may only be used by root", machine.port);
    finding.mend = "take a port from 1024 on";
    return finding;
  }
  finding.says = fmt::format("{} is in use", machine.port);
  for (const Server& server : servers(machine)) {
    if (server.alive && server.port == machine.port) finding.says += " by " + called(server);
  }
  finding.state = machine.port_is_default ? State::kNote : State::kWrong;
  finding.mend = machine.port_is_default ? "a server takes the next free one and prints it"
                                         : "give another, or --port 0 for any free one";
  return finding;
}

Finding check_others(const Machine& machine) {
  Finding finding{.subject = "other servers", .says = "none shows these logs", .mend = ""};
  size_t gone = 0;
  for (const Server& server : servers(machine)) {
    gone += server.alive ? 0 : 1;
    if (!server.alive || server.name == "sonde" || !same_place(server.logdir, machine.logdir))
      continue;
    finding.state = State::kNote;
    finding.says = called(server) + " shows the same logs";
    finding.mend = "both may run: Sonde only reads the logs";
    return finding;
  }
  if (gone > 0) {
    finding.state = State::kNote;
    finding.says = fmt::format("{} ended without leaving the registry", gone);
    finding.mend = fmt::format(
        "rm {}/.tensorboard-info/*.info removes their entries; running servers "
        "are not affected",
        machine.temporary);
  }
  return finding;
}

Finding check_server(const Machine& machine) {
  Finding finding{.subject = "running server", .says = "no Sonde shows these logs yet", .mend = ""};
  for (const Server& server : servers(machine)) {
    if (!server.alive || server.name != "sonde") continue;
    if (!machine.logdir.empty() && !same_place(server.logdir, machine.logdir)) continue;
    finding.says = called(server) + " is well";
    if (auto health = ask(server, "/healthz"); !health) {
      finding.state = State::kWrong;
      finding.says = fmt::format("{}: {}", called(server), health.error().text);
      finding.mend = fmt::format("kill {} and start it again", server.pid);
      return finding;
    }
    if (server.version != SONDE_VERSION) {
      finding.state = State::kNote;
      finding.says = fmt::format("{} is not this version ({})", called(server), SONDE_VERSION);
      finding.mend = "start it again to have the new one";
      return finding;
    }
    const auto body = ask(server, "/api/v1/diagnosis");
    const auto json = body ? read_json(*body) : fail(Code::kInvalid, "");
    const JsonValue* hints = json ? json->find("hints") : nullptr;
    if (hints && !hints->items.empty()) {
      finding.state = State::kNote;
      finding.says = fmt::format("{}: {}", called(server), text_of(hints->items[0], "text"));
      finding.mend = text_of(hints->items[0], "fix");
    }
    return finding;
  }
  return finding;
}

}  // namespace sonde::cli
