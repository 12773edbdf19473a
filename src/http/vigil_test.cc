#include "http/vigil.h"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using sonde::http::Vigil;

namespace {

// A loop and its client on a clock of our own.
struct Play {
  Vigil vigil;
  Vigil::Time now{1h};

  // The client asks `pause` after the last answer, which took 50 us. True: the loop was awake.
  bool ask_after(std::chrono::microseconds pause) {
    const auto due = now + pause;
    bool is_awake = vigil.is_awake();
    while (is_awake && now < due) {
      now += 1us;
      is_awake = vigil.lasts(now);
    }
    now = due;
    vigil.heard(now);
    now += 50us;
    vigil.answered(now);
    return is_awake;
  }

  int awake_of(int requests, std::chrono::microseconds pause) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += ask_after(pause);
    return count;
  }
};

}  // namespace

TEST_CASE("Vigil: begins after some quick requests in a row and then meets each of them") {
  Play play;
  CHECK(play.awake_of(Vigil::kStreak, 60us) == 0);
  CHECK(play.awake_of(100, 60us) >= 99);
}

TEST_CASE("Vigil: a slow client is never waited for") {
  Play play;
  CHECK(play.awake_of(100, 400us) == 0);
  play.awake_of(100, 60us);
  play.ask_after(5ms);
  CHECK(play.awake_of(Vigil::kStreak - 1, 60us) == 0);
}

TEST_CASE("Vigil: without requests the loop sleeps within its limit and stays asleep") {
  Play play;
  play.awake_of(100, 60us);
  const auto began = play.now;
  while (play.vigil.lasts(play.now)) play.now += 2us;
  CHECK(play.now - began <= Vigil::kLongest + 2us);
  for (int i = 0; i < 1000; ++i) {
    play.now += 1ms;
    CHECK(!play.vigil.lasts(play.now));
  }
}

TEST_CASE("Vigil: a loop whose core others need gives it up more and more") {
  Play play;
  play.awake_of(Vigil::kStreak, 60us);
  int vigils = 0;
  for (int i = 0; i < 2000; ++i) {
    if (play.vigil.is_awake()) {
      ++vigils;
      play.now += Vigil::kInterrupted + 1us;  // somebody else ran in between
      CHECK(!play.vigil.lasts(play.now));
    }
    play.ask_after(60us);
  }
  CHECK(vigils > 0);
  CHECK(vigils < 15);
}

TEST_CASE("Vigil: ends at once when workers have something to do") {
  Play play;
  play.awake_of(100, 60us);
  REQUIRE(play.vigil.is_awake());
  play.vigil.end();
  CHECK(!play.vigil.lasts(play.now));
}
