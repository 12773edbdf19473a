#include "http/loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"

namespace sonde::http {

void Loop::run() {
  while (!context_.stopped()) {
    try {
      turn();
    } catch (const std::exception& error) {
      log::error("event loop: {}", error.what());
    } catch (...) {
      log::error("event loop: {}", kUnknown);
    }
  }
}

void Loop::turn() {
  const bool is_needed = shared_.site.metrics().jobs.load(std::memory_order_relaxed) > 0;
  if (is_needed || !shared_.has_spare_core) spin_policy_.end();
  if (spin_policy_.is_awake() && spin_policy_.keep_spinning(Session::Clock::now())) {
    context_.poll();
  } else {
    context_.run_one();
  }
}

void Loop::give_up(Session& session, std::string_view why) {
  log::error("connection closed: {}", why);
  session.close();
}

bool Loop::add(std::shared_ptr<Session> session) {
  if (sessions_.size() >= shared_.max_connections_per_loop && !evict_idle()) {
    shared_.site.metrics().refused_connections.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  sessions_.push_back(std::move(session));
  const std::shared_ptr<Session> kept = sessions_.back();  // start() may close it
  Session& added = *kept;
  added.place_ = std::prev(sessions_.end());
  shared_.site.metrics().connections.fetch_add(1, std::memory_order_relaxed);
  shared_.site.metrics().open_connections.fetch_add(1, std::memory_order_relaxed);
  if (!ticking_) tick();
  serve(added, [&] { added.start(); });
  return true;
}

void Loop::remove(Session& session) {
  if (!session.place_) return;
  shared_.site.metrics().open_connections.fetch_sub(1, std::memory_order_relaxed);
  const auto place = *session.place_;
  session.place_.reset();
  sessions_.erase(place);  // may destroy the session
}

void Loop::touch(Session& session) {
  if (session.place_) sessions_.splice(sessions_.end(), sessions_, *session.place_);
}

bool Loop::evict_idle() {
  const auto idle = std::ranges::find_if(sessions_, [](auto& s) { return s->is_idle(); });
  if (idle == sessions_.end()) return false;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): close() takes it out of the list
  const std::shared_ptr<Session> session = *idle;
  session->close();
  return true;
}

size_t Loop::busy() const {
  return static_cast<size_t>(
      std::ranges::count_if(sessions_, [](auto& s) { return s->is_busy(); }));
}

void Loop::close_all() {
  const std::vector<std::shared_ptr<Session>> all(sessions_.begin(), sessions_.end());
  for (const auto& session : all) session->close();
  timer_.cancel();
}

// The clock runs only while there are connections: an idle server sleeps.
void Loop::tick() {
  ticking_ = !sessions_.empty();
  if (!ticking_) return;
  // Short timeouts are for tests; their clock ticks finer.
  const auto period = std::clamp(shared_.options.head_timeout / 4, std::chrono::milliseconds(20),
                                 std::chrono::milliseconds(1000));
  timer_.expires_after(period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const auto now = Session::Clock::now();
    const std::vector<std::shared_ptr<Session>> all(sessions_.begin(), sessions_.end());
    for (const auto& session : all) serve(*session, [&] { session->tick(now); });
    tick();
  });
}

}  // namespace sonde::http
