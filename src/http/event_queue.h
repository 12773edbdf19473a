// The way of server-sent events from any thread to the connection's loop. A client that does not
// read is cut off when too much waits for it: it reconnects and resumes by its last event id.
// Thread-safe.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>
#include <string>

namespace sonde::http {

class EventQueue {
 public:
  static constexpr size_t kMaxWaiting = 4 << 20;

  // `wake` is called on the loop's thread when there is something to take.
  EventQueue(boost::asio::io_context& loop, std::function<void()> wake)
      : loop_(loop), wake_(std::move(wake)) {}

  // False when the client has gone or was cut off.
  bool push(std::string text) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    overflowed_ = waiting_.size() + text.size() > kMaxWaiting;
    if (overflowed_) {
      closed_ = true;
      waiting_.clear();
    } else if (waiting_.empty()) {
      waiting_ = std::move(text);
    } else {
      waiting_ += text;
    }
    if (!scheduled_) {
      scheduled_ = true;
      boost::asio::post(loop_, wake_);  // under the lock: after close() nothing is posted
    }
    return !closed_;
  }

  std::string take() {
    const std::lock_guard lock(mutex_);
    scheduled_ = false;
    return std::exchange(waiting_, {});
  }

  bool overflowed() const {
    const std::lock_guard lock(mutex_);
    return overflowed_;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_ = {};
  }

 private:
  boost::asio::io_context& loop_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;  // guards: waiting_, closed_, scheduled_, overflowed_
  std::string waiting_;
  bool closed_ = false, scheduled_ = false, overflowed_ = false;
};

}  // namespace sonde::http
