#include "http/spin_policy.h"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using sonde::http::SpinPolicy;

namespace {

// A loop and its client on a clock of our own.
struct Play {
  SpinPolicy spin_policy;
  SpinPolicy::Time now{1h};

  // The client asks `pause` after the last answer, which took 50 us. True: the loop was awake.
  bool ask_after(std::chrono::microseconds pause) {
    const auto due = now + pause;
    bool is_awake = spin_policy.is_awake();
    while (is_awake && now < due) {
      now += 1us;
      is_awake = spin_policy.keep_spinning(now);
    }
    now = due;
    spin_policy.on_request(now);
    now += 50us;
    spin_policy.answered(now);
    return is_awake;
  }

  int awake_of(int requests, std::chrono::microseconds pause) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += ask_after(pause);
    return count;
  }
};

}  // namespace

TEST_CASE("SpinPolicy: begins after some quick requests in a row and then meets each of them") {
  Play play;
  CHECK(play.awake_of(SpinPolicy::kStreak, 60us) == 0);
  CHECK(play.awake_of(100, 60us) >= 99);
}

TEST_CASE("SpinPolicy: a slow client is never waited for") {
  Play play;
  CHECK(play.awake_of(100, 400us) == 0);
  play.awake_of(100, 60us);
  play.ask_after(5ms);
  CHECK(play.awake_of(SpinPolicy::kStreak - 1, 60us) == 0);
}

TEST_CASE("SpinPolicy: without requests the loop sleeps within its limit and stays asleep") {
  Play play;
  play.awake_of(100, 60us);
  const auto began = play.now;
  while (play.spin_policy.keep_spinning(play.now)) play.now += 2us;
  CHECK(play.now - began <= SpinPolicy::kLongest + 2us);
  for (int i = 0; i < 1000; ++i) {
    play.now += 1ms;
    CHECK(!play.spin_policy.keep_spinning(play.now));
  }
}

TEST_CASE("SpinPolicy: a loop whose core others need gives it up more and more") {
  Play play;
  play.awake_of(SpinPolicy::kStreak, 60us);
  int vigils = 0;
  for (int i = 0; i < 2000; ++i) {
    if (play.spin_policy.is_awake()) {
      ++vigils;
      play.now += SpinPolicy::kInterrupted + 1us;  // somebody else ran in between
      CHECK(!play.spin_policy.keep_spinning(play.now));
    }
    play.ask_after(60us);
  }
  CHECK(vigils > 0);
  CHECK(vigils < 15);
}

TEST_CASE("SpinPolicy: ends at once when workers have something to do") {
  Play play;
  play.awake_of(100, 60us);
  REQUIRE(play.spin_policy.is_awake());
  play.spin_policy.end();
  CHECK(!play.spin_policy.keep_spinning(play.now));
}
