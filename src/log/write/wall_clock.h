// The time of an event, read a million times a second. The kernel's clock costs 30 ns a reading on
// a virtual machine, a third of a scalar call; between two readings of it less than a millisecond
// apart the processor's cycle counter is enough. Where that counter is not the kernel's own clock
// source, or calls come rarely, every reading is the kernel's.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::writer {

// Seconds since the epoch, from the kernel.
double wall_time_now();

// Thread-compatible: the sink reads it under its lock, so times follow the order of the records.
class WallClock {
 public:
  double now() {
#if defined(__x86_64__)
    const uint64_t passed = __rdtsc() - tick_;
    if (passed < span_) return at_s_ + static_cast<double>(passed) * s_per_tick_;
#endif
    return read_kernel();
  }

 private:
  double read_kernel();

  uint64_t tick_ = 0;      // the counter when at_s_ was read
  uint64_t span_ = 0;      // ticks for which s_per_tick_ may be trusted; 0: unknown
  double at_s_ = 0;        // the kernel's time
  double s_per_tick_ = 0;  // between the last two readings of the kernel
};

}  // namespace sonde::writer
