#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>

namespace sonde {
namespace {

// On Linux niceness and policy belong to each thread. As batch work a thread never interrupts one
// that runs, and a thread that wakes for a request interrupts it: that, more than a smaller share
// of a busy machine, is what keeps short answers short.
void give_way(int niceness) {
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): once a pool, mostly from a literal
ThreadPool::ThreadPool(std::string name, size_t threads, int niceness) {
  for (size_t i = 0; i < std::max<size_t>(threads, 1); ++i) {
    threads_.emplace_back([this, niceness, thread_name = name + "-" + std::to_string(i)] {
      name_this_thread(thread_name);
      if (niceness > 0) give_way(niceness);
      work();
    });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  threads_.clear();
}

void ThreadPool::run(Job job, Priority priority) {
  {
    const std::lock_guard lock(mutex_);
    (priority == Priority::kUrgent ? urgent_ : background_).push_back(std::move(job));
  }
  wake_.notify_one();
}

void ThreadPool::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !urgent_.empty() || !background_.empty(); });
      if (stopping_) return;
      auto& queue = urgent_.empty() ? background_ : urgent_;
      job = std::move(queue.front());
      queue.pop_front();
    }
    job();
  }
}

void ThreadPool::for_each(size_t count, const std::function<void(size_t)>& fn, Priority priority) {
  if (count == 0) return;
  struct State {
    std::atomic<size_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
  };
  // Shared, because a helper may be taken from the queue only after the call has returned.
  const auto state = std::make_shared<State>();
  const auto take = [state, count, &fn] {
    for (size_t i; (i = state->next.fetch_add(1)) < count;) {
      fn(i);
      if (state->done.fetch_add(1) + 1 == count) {
        const std::lock_guard lock(state->mutex);
        state->finished.notify_all();
      }
    }
  };
  for (size_t i = 0; i < std::min(threads_.size(), count - 1); ++i) run(take, priority);
  take();
  std::unique_lock lock(state->mutex);
  state->finished.wait(lock, [&] { return state->done.load() == count; });
}

void name_this_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

size_t usable_cores() {
  cpu_set_t set;
  size_t cores = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set))
                                                             : std::thread::hardware_concurrency();
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    cores = std::min(
        cores, static_cast<size_t>(std::max(1.0, std::strtod(quota.c_str(), nullptr) / period)));
  }
  return std::max<size_t>(cores, 1);
}

}  // namespace sonde
