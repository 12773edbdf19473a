// Captures of running programs that somebody asked for: one at a time on a thread of its own, the
// last few remembered with how they ended. Shared by TensorBoard's route and /api/v1. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/routes.h"
#include "capture/remote/session.h"

namespace sonde::api {

enum class RecordingState : uint8_t { kRunning, kDone, kFailed, kCancelled };
std::string_view name_of(RecordingState state);

struct Recording {
  uint64_t id = 0;
  RecordingState state = RecordingState::kRunning;
  remote::Progress progress;
  std::string session;  // once done: its id in the list of sessions
  std::string error;
  int64_t elapsed_ms = 0, expected_ms = 0;  // of the attempt under way
};

class Recordings {
 public:
  ~Recordings();

  // Writes below the root of that name, or the first. kBusy while another one runs; kForbidden with
  // the settings' reason.
  Result<Recording> start(const Context& context, remote::Plan plan, std::string_view root = "");
  Result<Recording> look(uint64_t id) const;
  Result<Recording> cancel(uint64_t id);
  Result<Recording> wait(uint64_t id) const;  // until it is over
  std::vector<Recording> list() const;        // newest first

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Recording recording;
    Clock::time_point attempt_began;
    bool is_cancelled = false;
  };
  void run(Entry& entry, const remote::Plan& plan, const std::stop_token& stop);
  void finish(Entry& entry, const std::string& prefix);
  Result<std::shared_ptr<Entry>> find(uint64_t id) const;  // with the lock held
  Recording copy_of(const Entry& entry) const;             // with the lock held
  static constexpr size_t kKept = 16;

  mutable std::mutex mutex_;  // guards: entries_, what an Entry says, next_id_
  mutable std::condition_variable changed_;
  std::deque<std::shared_ptr<Entry>> entries_;  // newest first
  uint64_t next_id_ = 1;
  std::jthread thread_;
};

}  // namespace sonde::api
