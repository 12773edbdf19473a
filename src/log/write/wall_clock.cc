#include "log/write/wall_clock.h"

#include <time.h>

#include <fstream>
#include <string>

namespace sonde::writer {
namespace {

// The kernel has checked that the counter runs evenly and alike on all processors when it uses it.
bool counter_is_trusted() {
  std::ifstream in("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return (in >> name) && name == "tsc";
}

}  // namespace

double wall_time_now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double WallClock::read_kernel() {
  const double now_s = wall_time_now();
#if defined(__x86_64__)
  static const bool trusted = counter_is_trusted();
  if (!trusted) return now_s;
  constexpr double kTrust_s = 1e-3, kShortest_s = 0.5e-3, kLongest_s = 20e-3;
  const uint64_t tick = __rdtsc();
  const double passed_s = now_s - at_s_;
  // A baseline that is too short is imprecise, one that is long may hold a suspend of the machine.
  if (passed_s >= 0 && passed_s < kShortest_s && span_ == 0 && tick > tick_) return now_s;
  const double rate = tick > tick_ ? passed_s / static_cast<double>(tick - tick_) : 0;
  const bool plausible = passed_s > 0 && passed_s < kLongest_s && rate > 1e-10 && rate < 4e-9;
  s_per_tick_ = plausible ? rate : 0;
  span_ = plausible ? static_cast<uint64_t>(kTrust_s / rate) : 0;
  tick_ = tick;
  at_s_ = now_s;
#endif
  return now_s;
}

}  // namespace sonde::writer
