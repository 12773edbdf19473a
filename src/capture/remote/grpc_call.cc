#include "capture/remote/grpc_call.h"

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
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/log.h"
#include "capture/remote/grpc_stream.h"

namespace sonde::remote {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kReadBytes = 256 << 10;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Waits on one socket, until the deadline or a stop, whichever comes first.
class Waiter {
 public:
  Waiter(const Call& call)
      : call_(call), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), on_stop_(call.stop, [this] {
          const uint64_t one = 1;
          [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
        }) {}

  Result<void> wait(int fd, short events) {
    for (;;) {
      if (call_.stop.stop_requested()) return fail(Code::kConflict, "the capture was cancelled");
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(call_.deadline - Clock::now());
      if (left.count() <= 0) {
        return fail(Code::kIo, fmt::format("{} did not answer in time; it is busy, or the network "
                                           "between swallows what is sent",
                                           call_.address.text()));
      }
      std::array<pollfd, 2> watched = {{{fd, events, 0}, {wake_.get(), POLLIN, 0}}};
      const int timeout = static_cast<int>(std::min<int64_t>(left.count(), 1 << 30));
      const int ready = ::poll(watched.data(), watched.size(), timeout);
      if (ready < 0 && errno != EINTR)
        return fail(Code::kIo, fmt::format("cannot wait for {}: {}", call_.address.text(),
                                           std::strerror(errno)));
      if (ready > 0 && watched[0].revents != 0) return {};
    }
  }

 private:
  const Call& call_;
  Descriptor wake_;
  std::stop_callback<std::function<void()>> on_stop_;
};

tl::unexpected<Error> cannot_connect(const Address& address, int number) {
  if (number == ECONNREFUSED) {
    return fail(Code::kBusy,
                fmt::format("nobody listens at {}; start the profiler server in the program "
                            "(jax.profiler.start_server({}) or "
                            "tf.profiler.experimental.server.start({})) and check the port",
                            address.text(), address.port, address.port));
  }
  return fail(Code::kBusy,
              fmt::format("cannot reach {}: {}", address.text(), std::strerror(number)));
}

Result<Descriptor> connected_to(const addrinfo& where, const Call& call, Waiter& waiter) {
  Descriptor fd(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return cannot_connect(call.address, errno);
  if (::connect(fd.get(), where.ai_addr, where.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return cannot_connect(call.address, errno);
    if (auto waited = waiter.wait(fd.get(), POLLOUT); !waited)
      return fail(std::move(waited).error());
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &number, &size) != 0) number = errno;
    if (number != 0) return cannot_connect(call.address, number);
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

// The first address of the name that takes the connection; a name of this machine has two.
Result<Descriptor> connect(const Call& call, Waiter& waiter) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(call.address.host.c_str(),
                                    std::to_string(call.address.port).c_str(), &hints, &found);
  if (problem != 0) {
    return fail(Code::kNotFound, fmt::format("there is no machine '{}': {}", call.address.host,
                                             ::gai_strerror(problem)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  Result<Descriptor> last = cannot_connect(call.address, EADDRNOTAVAIL);
  for (const addrinfo* one = found; one; one = one->ai_next) {
    if (call.policy) {
      if (auto may = call.policy->check(*one->ai_addr); !may) {
        log::warn("capture: refused to connect to {}: {}", call.address.text(), may.error().text);
        last = fail(std::move(may).error());
        continue;
      }
      log::info("capture: connecting to {} ({})", call.address.text(), io::text_of(*one->ai_addr));
    }
    last = connected_to(*one, call, waiter);
    if (last || last.error().code != Code::kBusy) break;
  }
  return last;
}

// Sends what the stream wants to say; false when the socket takes no more for now.
Result<bool> send_some(int fd, GrpcStream& stream, const Address& address) {
  for (std::string_view out = stream.output(); !out.empty(); out = stream.output()) {
    const ssize_t size = ::send(fd, out.data(), out.size(), MSG_NOSIGNAL);
    if (size > 0) {
      stream.sent(static_cast<size_t>(size));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return false;
    } else if (errno != EINTR) {
      // What the server said before it hung up is worth more than this.
      if (errno == EPIPE || errno == ECONNRESET) return true;
      return fail(Code::kIo,
                  fmt::format("cannot send to {}: {}", address.text(), std::strerror(errno)));
    }
  }
  return true;
}

// Reads what is there; the stream says what to make of it.
Result<void> receive_some(int fd, GrpcStream& stream, std::string& buffer, const Address& address) {
  const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (size > 0) return stream.feed(as_bytes(std::string_view(buffer).substr(0, size)));
  if (size == 0) return stream.closed();
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {};
  if (errno == ECONNRESET) return stream.closed();
  return fail(Code::kIo,
              fmt::format("cannot read from {}: {}", address.text(), std::strerror(errno)));
}

}  // namespace

Result<std::string> unary_call(const Call& call) {
  Waiter waiter(call);
  SONDE_TRY(fd, connect(call, waiter));
  if (call.connected) call.connected();
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(call.deadline - Clock::now());
  GrpcStream stream({call.address.text(), call.path, call.message,
                     std::max<int64_t>(1, left.count()), call.max_answer_bytes});
  std::string buffer(kReadBytes, '\0');
  while (!stream.is_done()) {
    SONDE_TRY(all_sent, send_some(fd.get(), stream, call.address));
    if (auto healthy = stream.health(); !healthy) return fail(std::move(healthy).error());
    const short events = static_cast<short>(all_sent ? POLLIN : POLLIN | POLLOUT);
    if (auto waited = waiter.wait(fd.get(), events); !waited)
      return fail(std::move(waited).error());
    if (auto read = receive_some(fd.get(), stream, buffer, call.address); !read)
      return fail(std::move(read).error());
    if (call.received && stream.received_bytes() > 0) call.received(stream.received_bytes());
  }
  return stream.take_message();
}

}  // namespace sonde::remote
