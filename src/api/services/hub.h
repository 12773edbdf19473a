// Fans changes of the store out to the clients of GET events. While somebody listens it is
// subscribed to the store; a store thread only hands a change over, one thread of the hub's own
// merges and sends, at most ten `changed` a second to each client. It never looks at the store from
// its own thread, so the store may go as soon as the last client has.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/routes.h"
#include "log/store/store.h"

namespace sonde::api::v1 {

class State;

// Changes that wait to be sent, merged. Beyond kMostSeries series only their runs are kept, beyond
// as many runs only that everything changed.
struct Pending {
  static constexpr size_t kMostSeries = 500;

  struct Last {
    uint64_t points = 0;
    Step step = 0;
  };
  uint64_t revision = 0;
  std::map<std::pair<uint32_t, uint32_t>, Last> series;  // (run, tag)
  std::set<uint32_t> runs;                               // instead of series
  bool all = false;                                      // instead of runs
  std::set<uint32_t> added, removed, damaged;

  void add_series(uint32_t run, uint32_t tag, Last last);
  void add_run(uint32_t run);
  void merge(const Pending& later);
  bool has_changes() const { return all || !series.empty() || !runs.empty(); }
  bool empty() const {
    return !has_changes() && added.empty() && removed.empty() && damaged.empty();
  }
};

// The events that tell a client of `pending`.
std::string events_text(const Pending& pending, std::string_view boot);
std::string event_text(std::string_view name, std::string_view data, std::string_view id = "");

class Hub {
 public:
  Hub();
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // A client from now until the handle is dropped. `first` is sent at once, then what `missed`
  // says, which is asked after the client has been subscribed: nothing falls in between.
  std::shared_ptr<void> join(const Context& context, State& state, EventStream::Sink sink,
                             std::string first, const std::function<Pending()>& missed);

  // Sends one event to everybody (sidecar, job).
  void broadcast(std::string_view name, std::string_view data);

  size_t clients() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    EventStream::Sink sink;
    Pending pending;
    std::vector<std::string> texts;  // events that are not merged
    Clock::time_point last_changed{}, last_sent{};
    bool gone = false;
  };

  void take(const Context& context, State& state, const store::Change& change);
  void take_progress(const store::LoadProgress& progress);
  void leave(const std::shared_ptr<Client>& client);
  void work(const std::stop_token& stop);
  std::optional<Clock::time_point> send_due(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;  // guards: everything below but thread_
  std::condition_variable_any wake_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::shared_ptr<void> subscription_;
  std::string boot_;
  Clock::time_point load_began_{}, load_sent_{};
  bool was_loading_ = false;
  std::jthread thread_;  // started with the first client
};

}  // namespace sonde::api::v1
