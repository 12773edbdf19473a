#include "whatif/model/http_post.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/strings.h"

namespace sonde::whatif {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxHead = 64 << 10;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Result<void> wait_for(int fd, short events, Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd one{fd, events, 0};
  if (left > 0 && ::poll(&one, 1, static_cast<int>(left)) > 0) return {};
  return fail(Code::kBusy, "the endpoint did not answer in time");
}

Result<Socket> connected(const Url& url, const io::AddressPolicy* policy,
                         Clock::time_point deadline) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  if (const int problem =
          ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
      problem != 0)
    return fail(Code::kNotFound, fmt::format("{}: {}", url.host, ::gai_strerror(problem)));
  std::string last = "no address";
  for (const addrinfo* one = found; one; one = one->ai_next) {
    if (policy) {
      if (auto may = policy->check(*one->ai_addr); !may) {
        ::freeaddrinfo(found);
        return fail(std::move(may).error());
      }
    }
    Socket socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.fd() < 0) continue;
    int problem = ::connect(socket.fd(), one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
      if (auto ready = wait_for(socket.fd(), POLLOUT, deadline); !ready) {
        last = ready.error().text;
        continue;
      }
      socklen_t size = sizeof problem;
      ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &problem, &size);
    }
    if (problem == 0) {
      ::freeaddrinfo(found);
      return socket;
    }
    last = std::strerror(problem);
  }
  ::freeaddrinfo(found);
  return fail(Code::kNotFound, fmt::format("cannot connect to {}: {}", url.origin(), last));
}

Result<void> send_all(const Socket& socket, std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return fail(Code::kIo, fmt::format("sending to the endpoint: {}", std::strerror(errno)));
    if (auto ready = wait_for(socket.fd(), POLLOUT, deadline); !ready) return ready;
  }
  return {};
}

// Everything until the endpoint closes: the request asks it to.
Result<std::string> receive_all(const Socket& socket, uint64_t limit, Clock::time_point deadline) {
  std::string out;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::recv(socket.fd(), buffer, sizeof buffer, 0);
    if (got == 0) return out;
    if (got > 0) {
      out.append(buffer, static_cast<size_t>(got));
      if (out.size() > limit + kMaxHead)
        return fail(Code::kTooLarge,
                    fmt::format("the endpoint's answer is larger than {} bytes", limit));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR)
      return fail(Code::kIo,
                  fmt::format("reading the endpoint's answer: {}", std::strerror(errno)));
    if (auto ready = wait_for(socket.fd(), POLLIN, deadline); !ready)
      return fail(std::move(ready).error());
  }
}

Result<std::string> unchunked(std::string_view body) {
  std::string out;
  while (true) {
    const size_t end = body.find("\r\n");
    uint64_t size = 0;
    if (end == body.npos) return fail(Code::kCorrupt, "the endpoint's answer is cut off");
    const auto [stop, problem] = std::from_chars(body.data(), body.data() + end, size, 16);
    if (problem != std::errc() || stop == body.data())
      return fail(Code::kCorrupt, "the endpoint's answer has a wrong chunk size");
    body.remove_prefix(end + 2);
    if (size == 0) return out;
    if (size > body.size()) return fail(Code::kCorrupt, "the endpoint's answer is cut off");
    out.append(body.substr(0, size));
    body.remove_prefix(std::min<size_t>(body.size(), size + 2));
  }
}

std::string header_of(std::string_view head, std::string_view name) {
  for (const std::string_view line : split(head, '\n')) {
    const size_t colon = line.find(':');
    if (colon == line.npos || colon != name.size()) continue;
    const bool same = std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
      return a == (b >= 'A' && b <= 'Z' ? b + 32 : b);
    });
    if (same) return std::string(trimmed(line.substr(colon + 1)));
  }
  return "";
}

Result<std::string> body_of(std::string_view answer, const Url& url) {
  const size_t end = answer.find("\r\n\r\n");
  if (end == answer.npos || end > kMaxHead || !answer.starts_with("HTTP/1."))
    return fail(Code::kCorrupt, fmt::format("{} does not speak HTTP", url.origin()));
  const std::string_view head = answer.substr(0, end), rest = answer.substr(end + 4);
  std::string body(rest);
  if (header_of(head, "transfer-encoding") == "chunked") {
    SONDE_TRY(whole, unchunked(rest));
    body = std::move(whole);
  } else if (const std::string length = header_of(head, "content-length"); !length.empty()) {
    uint64_t size = 0;
    std::from_chars(length.data(), length.data() + length.size(), size);
    if (size > body.size()) return fail(Code::kCorrupt, "the endpoint's answer is cut off");
    body.resize(size);
  }
  const std::string_view status = answer.size() > 12 ? answer.substr(9, 3) : "";
  if (status != "200")
    return fail(Code::kInvalid,
                fmt::format("{}{} answered {}: {}", url.origin(), url.path, status,
                            to_utf8(trimmed(std::string_view(body).substr(0, 300)))));
  return body;
}

}  // namespace

std::string Url::origin() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

Result<Url> url_of(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(Code::kInvalid,
                fmt::format("'{}' is no endpoint: {}", to_utf8(text.substr(0, 200)), why));
  };
  if (text.starts_with("https://"))
    return fail(Code::kUnsupported,
                "endpoints are called over plain http; put a local proxy before an https one");
  if (!text.starts_with("http://")) return wrong("write http://host:port/path");
  if (std::ranges::any_of(text,
                          [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; }))
    return wrong("it holds a blank or a control character");
  std::string_view rest = text.substr(7);
  Url url;
  const size_t slash = rest.find_first_of("/?#");
  if (slash != rest.npos) url.path = std::string(rest.substr(slash));
  if (!url.path.starts_with('/')) url.path.insert(0, "/");
  std::string_view place = rest.substr(0, slash);
  if (place.find('@') != place.npos)
    return wrong("a name and password do not belong into an address");
  if (place.starts_with('[')) {
    const size_t close = place.find(']');
    if (close == place.npos) return wrong("the bracket is not closed");
    url.host = std::string(place.substr(1, close - 1));
    place.remove_prefix(close + 1);
  } else {
    url.host = std::string(place.substr(0, place.find(':')));
    place.remove_prefix(url.host.size());
  }
  if (url.host.empty()) return wrong("there is no host");
  if (!place.empty()) {
    uint32_t port = 0;
    const auto [stop, problem] =
        std::from_chars(place.data() + 1, place.data() + place.size(), port);
    if (place[0] != ':' || problem != std::errc() || stop != place.data() + place.size() ||
        port == 0 || port > 65535)
      return wrong("the port is no number");
    url.port = static_cast<uint16_t>(port);
  }
  return url;
}

Result<std::string> http_post(const Url& url, std::string_view json, const PostOptions& options) {
  const auto deadline = Clock::now() + options.timeout;
  SONDE_TRY(const socket, connected(url, options.policy, deadline));
  std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\nConnection: close\r\n",
      url.path, url.origin().substr(7), json.size());
  if (!options.token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", options.token);
  head += "\r\n";
  if (auto sent = send_all(socket, head, deadline); !sent) return fail(std::move(sent).error());
  if (auto sent = send_all(socket, json, deadline); !sent) return fail(std::move(sent).error());
  SONDE_TRY(const answer, receive_all(socket, options.max_answer_bytes, deadline));
  return body_of(answer, url);
}

}  // namespace sonde::whatif
