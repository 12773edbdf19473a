// Threads that may lend a hand with one file or one run.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/thread_pool.h"

namespace sonde::store {

struct ParallelFor {
  ThreadPool& pool;
  size_t threads;  // that may work on it, this one included

  // Calls fn(begin, end) for parts of [0, count): by several threads where that is worth waking
  // them, which it is for the tags of a file that has thousands.
  template <class Fn>
  void for_ranges(size_t count, Fn&& fn) const {
    constexpr size_t kRange = 1024;
    if (threads <= 1 || count <= 2 * kRange) {
      fn(size_t{0}, count);
      return;
    }
    pool.for_each((count + kRange - 1) / kRange,
                  [&](size_t i) { fn(i * kRange, std::min(count, (i + 1) * kRange)); },
                  ThreadPool::Priority::kBackground);
  }
};

}  // namespace sonde::store
