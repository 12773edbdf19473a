// A fixed set of named threads that run jobs, urgent ones first: requests go before loading. The
// destructor finishes what runs, drops what waits, and joins. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sonde {

class ThreadPool {
 public:
  enum class Priority : uint8_t { kUrgent, kBackground };
  using Job = std::function<void()>;

  // `niceness` above 0 makes the threads give way to others of the process.
  ThreadPool(std::string name, size_t threads, int niceness = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void run(Job job, Priority priority = Priority::kUrgent);

  // Calls fn(0) … fn(count-1) on the pool and on the calling thread; returns when all are done.
  void for_each(size_t count, const std::function<void(size_t)>& fn,
                Priority priority = Priority::kUrgent);

  size_t size() const { return threads_.size(); }

 private:
  void work();

  std::mutex mutex_;  // guards: urgent_, background_, stopping_
  std::condition_variable wake_;
  std::deque<Job> urgent_, background_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

// Names the calling thread for debuggers and `top -H`; at most 15 characters are kept.
void name_this_thread(const std::string& name);
// Cores this process may use (respects affinity and, where set, the cgroup's quota); at least 1.
size_t usable_cores();

}  // namespace sonde
