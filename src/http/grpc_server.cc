#include "http/grpc_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread_pool.h"
#include "http/grpc_session.h"

namespace sonde::http {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kMostConnections = 64;
constexpr int kIdleMs = 1000;

void raise(int eventfd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(eventfd, &one, sizeof one);
}

// Answers that workers have ready for one connection; outlives the connection while a worker runs.
struct Outbox {
  struct Ready {
    int32_t stream;
    Result<std::vector<std::string>> messages;
  };
  Outbox() : wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Outbox() { ::close(wake); }
  void put(int32_t stream, Result<std::vector<std::string>> messages) {
    {
      const std::lock_guard lock(mutex);
      ready.push_back({stream, std::move(messages)});
    }
    raise(wake);
  }
  std::vector<Ready> take() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake, &count, sizeof count);
    const std::lock_guard lock(mutex);
    return std::exchange(ready, {});
  }
  const int wake;
  std::mutex mutex;  // guards: ready
  std::vector<Ready> ready;
};

class Listening final : public GrpcServer {
 public:
  Listening(int fd, uint16_t port, Handler handler)
      : fd_(fd), port_(port), handler_(std::move(handler)), pool_("grpc", usable_cores()) {
    acceptor_ = std::jthread([this] { accept_all(); });
  }
  ~Listening() override {
    stopping_ = true;
    ::shutdown(fd_, SHUT_RDWR);
    acceptor_.join();
    connections_.clear();  // joins
    ::close(fd_);
  }
  uint16_t port() const override { return port_; }

 private:
  struct Connection {
    std::atomic<bool> is_over = false;
    std::jthread thread;
  };

  void accept_all() {
    name_this_thread("grpc accept");
    while (!stopping_) {
      pollfd listening{fd_, POLLIN, 0};
      if (::poll(&listening, 1, kIdleMs) < 0 && errno != EINTR) return;
      connections_.remove_if([](const auto& connection) { return connection->is_over.load(); });
      if ((listening.revents & POLLIN) == 0) continue;
      const int client = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) continue;
      if (connections_.size() >= kMostConnections) {
        ::close(client);
        continue;
      }
      auto connection = std::make_unique<Connection>();
      connection->thread = std::jthread([this, client, over = &connection->is_over] {
        name_this_thread("grpc");
        converse(client);
        ::close(client);
        *over = true;
      });
      connections_.push_back(std::move(connection));
    }
  }

  void converse(int client) {
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    GrpcSession session;
    const auto outbox = std::make_shared<Outbox>();
    std::array<std::byte, kReadBytes> buffer;
    while (!stopping_ && !session.is_finished()) {
      for (Outbox::Ready& ready : outbox->take())
        session.answer(ready.stream, std::move(ready.messages));
      bool is_full = false;
      for (std::string_view bytes; !is_full && !(bytes = session.output()).empty();) {
        const ssize_t n = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n >= 0) {
          session.sent(static_cast<size_t>(n));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
          is_full = true;
        } else if (errno != EINTR) {
          return;
        }
      }
      std::array<pollfd, 2> waiting = {
          pollfd{client, static_cast<short>(is_full ? POLLIN | POLLOUT : POLLIN), 0},
          pollfd{outbox->wake, POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), kIdleMs) < 0 && errno != EINTR) return;
      if ((waiting[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t n = ::recv(client, buffer.data(), buffer.size(), 0);
      if (n == 0) return;
      if (n < 0) {
        if (errno == EAGAIN || errno == EINTR) continue;
        return;
      }
      if (!session.feed(Bytes(buffer.data(), static_cast<size_t>(n)))) return;
      for (GrpcCall& call : session.take_calls()) {
        pool_.run([this, outbox, call = std::move(call)] {
          outbox->put(call.stream, handler_(call.path, as_bytes(call.message)));
        });
      }
    }
  }

  const int fd_;
  const uint16_t port_;
  const Handler handler_;
  std::atomic<bool> stopping_ = false;
  std::list<std::unique_ptr<Connection>> connections_;  // of the acceptor
  ThreadPool pool_;
  std::jthread acceptor_;
};

tl::unexpected<Error> cannot_bind(const std::string& host, uint16_t port) {
  return fail(errno == EADDRINUSE ? Code::kConflict : Code::kIo,
              fmt::format("cannot listen at {} port {}: {}", host, port, std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& host, uint16_t port,
                                                      Handler handler) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0 || !found)
    return fail(Code::kInvalid, fmt::format("'{}' is not a numeric address", host));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> address(found, ::freeaddrinfo);
  const int fd = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return cannot_bind(host, port);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::bind(fd, address->ai_addr, address->ai_addrlen) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    auto error = cannot_bind(host, port);
    ::close(fd);
    return error;
  }
  const uint16_t chosen = bound.ss_family == AF_INET6
                              ? ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port)
                              : ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return std::make_unique<Listening>(fd, chosen, std::move(handler));
}

}  // namespace sonde::http
