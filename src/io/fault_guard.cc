#include "io/fault_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace sonde::io {
namespace {

// The handler reads this table without a lock: `end` is written last and cleared first, so a slot
// with an end has its begin.
struct Slot {
  std::atomic<bool> is_taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> has_faulted{false};
};
// One for the process, as the signal's handler is.
Slot g_slots[FaultGuard::kMaxGuarded];
std::atomic<int> g_used{0};  // slots below it were taken once
uintptr_t g_page = 4096;

void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  const int used = g_used.load(std::memory_order_acquire);
  for (int i = 0; i < used; ++i) {
    Slot& slot = g_slots[i];
    if (at >= slot.end.load(std::memory_order_acquire) || at < slot.begin.load()) continue;
    void* page =
        reinterpret_cast<void*>(at / g_page * g_page);  // NOLINT(performance-no-int-to-ptr)
    const void* zeros =
        ::mmap(page, g_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    slot.has_faulted.store(true, std::memory_order_relaxed);
    return;  // the read is tried again
  }
  ::signal(signal, SIG_DFL);  // not ours: ends the process as it would have
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

bool FaultGuard::guard(const void* begin, size_t size) {
  install_handler();
  for (int i = 0; i < kMaxGuarded; ++i) {
    Slot& slot = g_slots[i];
    bool is_taken = false;
    if (!slot.is_taken.compare_exchange_strong(is_taken, true)) continue;
    slot.has_faulted = false;
    slot.begin = reinterpret_cast<uintptr_t>(begin);
    slot.end.store(reinterpret_cast<uintptr_t>(begin) + size, std::memory_order_release);
    int used = g_used.load();
    while (used <= i && !g_used.compare_exchange_weak(used, i + 1)) {
    }
    slot_ = i;
    return true;
  }
  return false;
}

FaultGuard::FaultGuard(FaultGuard&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

void FaultGuard::release() {
  if (slot_ < 0) return;
  g_slots[slot_].end.store(0, std::memory_order_release);
  g_slots[std::exchange(slot_, -1)].is_taken.store(false, std::memory_order_release);
}

bool FaultGuard::has_faulted() const {
  return slot_ >= 0 && g_slots[slot_].has_faulted.load(std::memory_order_relaxed);
}

}  // namespace sonde::io
