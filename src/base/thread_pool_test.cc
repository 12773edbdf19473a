#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>

using namespace sonde;

TEST_CASE("ThreadPool: for_each visits every index once") {
  ThreadPool pool("test", 3);
  std::vector<std::atomic<int>> seen(1000);
  pool.for_each(seen.size(), [&](size_t i) { ++seen[i]; });
  for (const auto& count : seen) REQUIRE(count == 1);
}

TEST_CASE("ThreadPool: for_each may be called from inside a job") {
  ThreadPool pool("test", 2);
  std::atomic<int> sum = 0;
  pool.for_each(4, [&](size_t) { pool.for_each(4, [&](size_t) { ++sum; }); });
  CHECK(sum == 16);
}
