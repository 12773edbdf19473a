// One event loop: a thread, its connections, and the clock that closes the slow ones. Only the
// loop's thread touches what is in it. Included by the files that own sockets, nowhere else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string_view>

#include "base/thread_pool.h"
#include "http/server.h"
#include "http/spin_policy.h"

namespace sonde::http {

// What the loops of one server share.
struct Shared {
  const ListenOptions& options;
  Site& site;
  ThreadPool& workers;  // answers of moderate cost
  ThreadPool& patient;  // long ones; its threads give way to all others
  size_t max_connections_per_loop;
  bool has_spare_core;  // a loop that stays awake leaves one to its client
};

// A connection as its loop sees it.
class Session {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Session() = default;
  virtual void start() = 0;
  virtual void tick(Clock::time_point now) = 0;  // about once a second
  virtual bool is_idle() const = 0;              // between two requests
  virtual bool is_busy() const = 0;              // an answer is under way
  virtual void close() = 0;

 private:
  friend class Loop;
  std::optional<std::list<std::shared_ptr<Session>>::iterator> place_;
};

class Loop {
 public:
  explicit Loop(Shared& shared) : shared_(shared), timer_(context_) {}

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return shared_; }

  // On the loop's thread, until the context is stopped. What a handler throws (memory, a library)
  // is logged, and the loop goes on.
  void run();
  SpinPolicy& spin_policy() { return spin_policy_; }

  // On the loop's thread. A full loop makes room by closing the connection idle for longest; when
  // none is idle the new one is refused: false.
  bool add(std::shared_ptr<Session> session);
  void remove(Session& session);
  void touch(Session& session);  // it was just used
  bool evict_idle();             // closes the one idle for longest; false when none is idle
  size_t busy() const;
  void close_all();

  // Calls fn for the session. What it throws costs this session and no other.
  template <class Fn>
  void serve(Session& session, Fn&& fn) {
    try {
      fn();
    } catch (const std::exception& error) {
      give_up(session, error.what());
    } catch (...) {
      give_up(session, kUnknown);
    }
  }

 private:
  static constexpr const char* kUnknown = "something that is no std::exception was thrown";
  void turn();  // waits for handlers and calls them
  void tick();
  static void give_up(Session& session, std::string_view why);

  Shared& shared_;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  SpinPolicy spin_policy_;
  std::list<std::shared_ptr<Session>> sessions_;  // least recently used first
};

}  // namespace sonde::http
