// Counters of the server, and the text that Prometheus reads. Every counter is one atomic: counting
// costs nanoseconds and takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "log/store/store.h"

namespace sonde::http {

class Metrics {
 public:
  void answered(int status, std::chrono::nanoseconds took);

  std::atomic<uint64_t> connections{0};      // ever accepted
  std::atomic<int64_t> open_connections{0};  // now
  std::atomic<int64_t> open_streams{0};      // server-sent events now
  std::atomic<uint64_t> refused_connections{0};
  std::atomic<uint64_t> timeouts{0};
  std::atomic<uint64_t> sent_bytes{0};
  std::atomic<uint64_t> received_bytes{0};
  std::atomic<int64_t> jobs{0};             // answers that workers compute now, or will
  std::atomic<uint64_t> response_cache{0};  // sent again without being made again
  std::atomic<uint64_t> kept_bytes{0};      // of answers that may be sent again
  std::atomic<int64_t> held_bytes{0};       // request bodies and answers in memory now

  std::string prometheus(const store::Store& store) const;

 private:
  static constexpr std::array<double, 10> kBounds = {0.0001, 0.0003, 0.001, 0.003, 0.01,
                                                     0.03,   0.1,    0.3,   1,     10};
  std::array<std::atomic<uint64_t>, 6> by_class_{};
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<uint64_t> total_ns_{0};
};

}  // namespace sonde::http
