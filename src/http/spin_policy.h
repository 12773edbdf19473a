// Whether a loop that has just answered looks at its sockets a little longer before it sleeps. A
// client that asks one thing after another (a script, a page that fills itself) sends its next
// request within a fraction of a millisecond; a core that slept meanwhile takes longer to wake than
// many an answer takes to make, and wakes with cold caches. So a loop stays awake only
//  * while the last requests have come that quickly, one after the other,
//  * for at most kLongest after an answer, and
//  * as long as that pays: a spin_policy that ends without a request, or in which somebody else
//  needed the
//    core, doubles the number of answers until the next one.
// Knows no clock and no socket; belongs to one loop's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sonde::http {

class SpinPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::microseconds kLongest{300};
  static constexpr std::chrono::microseconds kInterrupted{30};  // two looks are 1 or 2 us apart
  static constexpr uint32_t kStreak = 8;  // quick requests in a row before the first spin_policy
  static constexpr uint32_t kMaxSkipped = 512;  // answers

  // A request begins.
  void on_request(Time now) {
    streak_ = now - answered_ <= kLongest ? streak_ + 1 : 0;
    if (is_awake_) failures_ = 0;
    is_awake_ = false;
  }

  // Its answer has left.
  void answered(Time now) {
    answered_ = looked_ = now;
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    is_awake_ = streak_ >= kStreak;
  }

  // Asked while nothing is to be done: true to look at the sockets again at once, false to sleep.
  bool keep_spinning(Time now) {
    if (!is_awake_) return false;
    if (now - answered_ <= kLongest && now - looked_ <= kInterrupted) {
      looked_ = now;
      return true;
    }
    is_awake_ = false;
    skipped_ = std::min(kMaxSkipped, kStreak << std::min(failures_++, 10u));
    return false;
  }

  // Others have work for the cores: sleeps at once, which says nothing about the client.
  void end() { is_awake_ = false; }

  bool is_awake() const { return is_awake_; }

 private:
  Time answered_{}, looked_{};
  uint32_t streak_ = 0, failures_ = 0, skipped_ = 0;
  bool is_awake_ = false;
};

}  // namespace sonde::http
