#include "http/server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <future>
#include <thread>

#include "base/log.h"
#include "http/connection.h"
#include "http/loop.h"
#include "http/tls.h"

namespace sonde::http {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;
using Work = asio::executor_work_guard<asio::io_context::executor_type>;

constexpr int kGivesWay = 1;  // niceness of the threads that compute long answers

Error bind_error(const ErrorCode& error, const std::string& address, uint16_t port) {
  if (error == asio::error::address_in_use) {
    return {Code::kConflict, fmt::format("port {} is already in use", port)};
  }
  if (error == asio::error::access_denied) {
    return {Code::kForbidden, fmt::format("port {} needs superuser rights", port)};
  }
  return {Code::kInvalid,
          fmt::format("cannot listen on {} port {}: {}", address, port, error.message())};
}

// Raises the soft limit of descriptors to the hard one and says how many connections it allows.
size_t connection_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  }
  const auto files = static_cast<size_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  // The rest is for event files: half of a small limit, a thousand of a large one.
  return std::clamp<size_t>(files - std::min<size_t>(files / 2, 1024), 4, 16384);
}

using TcpAcceptor = tcp::acceptor;
using LocalAcceptor = Local::acceptor;

}  // namespace

struct Server::Impl {
  ListenOptions options;
  asio::io_context accepting{1};
  std::vector<std::unique_ptr<TcpAcceptor>> acceptors;
  std::unique_ptr<LocalAcceptor> local;
  std::unique_ptr<asio::steady_timer> retry;
  std::unique_ptr<asio::ssl::context> tls;
  uint16_t port = 0;
  size_t max_connections = 0;

  std::unique_ptr<ThreadPool> workers, patient;
  std::unique_ptr<Shared> shared;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<Work> work;
  std::vector<std::jthread> threads;
  size_t next = 0;  // loop of the next connection
  bool stopped = false;

  Result<void> bind_port(uint16_t wanted);
  Result<void> bind_local();
  template <class Acceptor>
  void accept(Acceptor& acceptor);
  template <class NativeSocket>
  void add(NativeSocket socket, Loop& loop);
  template <class Fn>
  void on_every_loop(Fn fn);
};

Result<void> Server::Impl::bind_port(uint16_t wanted) {
  acceptors.clear();
  port = wanted;
  for (const std::string& address : options.addresses) {
    ErrorCode error;
    const auto ip = asio::ip::make_address(address, error);
    if (error) return fail(Code::kInvalid, fmt::format("{} is not an address", address));
    auto acceptor = std::make_unique<TcpAcceptor>(accepting);
    const tcp::endpoint endpoint(ip, port);
    acceptor->open(endpoint.protocol(), error);
    // A machine without IPv6 still has its other address.
    if (error && !acceptors.empty()) continue;
    if (!error) acceptor->set_option(TcpAcceptor::reuse_address(true), error);
    if (!error && options.reuse_port) {
      const int on = 1;
      setsockopt(acceptor->native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    }
    if (!error && ip.is_v6()) {
      acceptor->set_option(asio::ip::v6_only(address != "::"), error);
    }
    if (!error) acceptor->bind(endpoint, error);
    const bool is_absent = error == boost::system::errc::address_not_available;
    if (is_absent && !acceptors.empty()) continue;
    if (!error) acceptor->listen(4096, error);
    if (error) return fail(bind_error(error, address, port));
    port = acceptor->local_endpoint().port();
    acceptors.push_back(std::move(acceptor));
  }
  return {};
}

Result<void> Server::Impl::bind_local() {
  const std::string& path = options.unix_socket;
  if (path.size() > 100) {
    return fail(Code::kInvalid, fmt::format("the socket's path {} is longer than 100 bytes", path));
  }
  ErrorCode error;
  struct stat info{};
  if (lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) {
      return fail(Code::kInvalid, fmt::format("{} exists and is not a socket", path));
    }
    Local::socket probe(accepting);
    probe.connect(Local::endpoint(path), error);
    if (!error) return fail(Code::kConflict, fmt::format("socket {} is already in use", path));
    ::unlink(path.c_str());  // left behind by a server that was killed
  }
  local = std::make_unique<LocalAcceptor>(accepting);
  error = {};
  local->open(Local(), error);
  const mode_t mask = ::umask(0177);  // nobody else may connect, from the first moment
  if (!error) local->bind(Local::endpoint(path), error);
  ::umask(mask);
  if (!error) local->listen(4096, error);
  if (error) {
    return fail(Code::kInvalid, fmt::format("cannot listen on {}: {}", path, error.message()));
  }
  return {};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(std::chrono::milliseconds(0)); }
uint16_t Server::port() const { return impl_->port; }

Result<std::unique_ptr<Server>> Server::listen(ListenOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  const ListenOptions& o = impl->options;
  impl->max_connections = o.max_connections ? o.max_connections : connection_limit();
  if (!o.certfile.empty()) {
    SONDE_TRY(tls, make_tls(o.certfile, o.keyfile));
    impl->tls = std::move(tls);
  }
  if (!o.unix_socket.empty()) {
    if (auto bound = impl->bind_local(); !bound) return fail(std::move(bound).error());
  }
  if (!o.addresses.empty()) {
    // With port 0 the second address may find the first one's port taken: another try.
    const uint32_t tries = o.port == 0 ? 20 : std::max<uint32_t>(o.tries, 1);
    for (uint32_t i = 0;; ++i) {
      const uint32_t wanted = o.port == 0 ? 0 : o.port + i;
      auto bound = impl->bind_port(static_cast<uint16_t>(wanted));
      if (bound) break;
      if (bound.error().code != Code::kConflict || i + 1 >= tries || wanted >= 65535) {
        return fail(std::move(bound).error());
      }
    }
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

template <class NativeSocket>
void Server::Impl::add(NativeSocket socket, Loop& loop) {
  Peer peer;
  if constexpr (std::is_same_v<NativeSocket, tcp::socket>) {
    ErrorCode error;
    const auto remote = socket.remote_endpoint(error);
    if (error) return;  // gone already
    auto address = remote.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    peer.is_loopback = address.is_loopback();
    socket.set_option(tcp::no_delay(true), error);
  }
  const bool encrypted = tls && std::is_same_v<NativeSocket, tcp::socket>;
  Socket generic(std::move(socket));
  auto session = encrypted ? make_tls_session(loop, std::move(generic), peer, *tls)
                           : make_session(loop, std::move(generic), peer);
  loop.add(std::move(session));
}

template <class Acceptor>
void Server::Impl::accept(Acceptor& acceptor) {
  Loop& loop = *loops[next++ % loops.size()];
  using NativeSocket = typename Acceptor::protocol_type::socket;
  acceptor.async_accept(asio::any_io_executor(loop.context().get_executor()),
                        [this, &acceptor, &loop](const ErrorCode& error, NativeSocket socket) {
                          if (error == asio::error::operation_aborted) return;
                          if (error == asio::error::no_descriptors ||
                              error == boost::system::errc::too_many_files_open_in_system) {
                            // Out of descriptors: make room, then try again.
                            on_every_loop([](Loop& l) { l.evict_idle(); });
                            retry->expires_after(std::chrono::milliseconds(50));
                            retry->async_wait([this, &acceptor](const ErrorCode& cancelled) {
                              if (!cancelled) accept(acceptor);
                            });
                            return;
                          }
                          accept(acceptor);  // first: what is thrown below costs one connection
                          if (error) return;
                          auto shared_socket = std::make_shared<NativeSocket>(std::move(socket));
                          asio::post(loop.context(), [this, &loop, shared_socket] {
                            add(std::move(*shared_socket), loop);
                          });
                        });
}

template <class Fn>
void Server::Impl::on_every_loop(Fn fn) {
  for (auto& loop : loops) {
    asio::post(loop->context(), [&target = *loop, fn] { fn(target); });
  }
}

void Server::start(Site& site) {
  Impl& s = *impl_;
  const size_t cores = s.options.threads ? s.options.threads : usable_cores();
  s.workers = std::make_unique<ThreadPool>("answer", std::max<size_t>(cores, 2));
  s.patient = std::make_unique<ThreadPool>("patient", std::max<size_t>(cores, 2), kGivesWay);
  s.shared =
      std::make_unique<Shared>(Shared{s.options, site, *s.workers, *s.patient,
                                      std::max<size_t>(s.max_connections / cores, 2), cores > 1});
  for (size_t i = 0; i < cores; ++i) {
    s.loops.push_back(std::make_unique<Loop>(*s.shared));
    s.work.push_back(asio::make_work_guard(s.loops.back()->context()));
    s.threads.emplace_back([loop = s.loops.back().get(), i] {
      name_this_thread(fmt::format("http-{}", i));
      loop->run();
    });
  }
  s.retry = std::make_unique<asio::steady_timer>(s.accepting);
  for (auto& acceptor : s.acceptors) s.accept(*acceptor);
  if (s.local) s.accept(*s.local);
  s.work.push_back(asio::make_work_guard(s.accepting));
  s.threads.emplace_back([&s] {
    name_this_thread("accept");
    while (!s.accepting.stopped()) {
      try {
        s.accepting.run();
      } catch (const std::exception& error) {
        log::error("accepting connections: {}", error.what());
      }
    }
  });
}

void Server::stop(std::chrono::milliseconds patience) {
  Impl& s = *impl_;
  if (std::exchange(s.stopped, true)) return;
  if (!s.options.unix_socket.empty() && s.local) ::unlink(s.options.unix_socket.c_str());
  if (s.threads.empty()) return;
  std::promise<void> closed;
  asio::post(s.accepting, [&] {
    ErrorCode ignored;
    for (auto& acceptor : s.acceptors) acceptor->close(ignored);
    if (s.local) s.local->close(ignored);
    s.retry->cancel();
    closed.set_value();
  });
  closed.get_future().wait();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::atomic<size_t> busy{0};
    for (auto& loop : s.loops) {
      std::promise<void> counted;
      asio::post(loop->context(), [&] {
        busy += loop->busy();
        counted.set_value();
      });
      counted.get_future().wait();
    }
    if (busy == 0 || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (auto& loop : s.loops) {
    std::promise<void> done;
    asio::post(loop->context(), [&] {
      loop->close_all();
      done.set_value();
    });
    done.get_future().wait();
  }
  // Workers first: what they still compute is posted to loops that are there and then dropped.
  s.workers.reset();
  s.patient.reset();
  s.work.clear();
  s.accepting.stop();
  for (auto& loop : s.loops) loop->context().stop();
  s.threads.clear();
  s.loops.clear();
}

}  // namespace sonde::http
