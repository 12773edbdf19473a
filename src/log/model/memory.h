// Memory of the scalar columns: large blocks, handed out by bumping a pointer, and a
// budget. Above the budget new blocks come from an unlinked file on disk, so the kernel can write
// them out instead of ending the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace sonde::store {

// Thread-safe.
class Memory {
 public:
  explicit Memory(uint64_t budget_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  struct Slab {
    std::byte* at = nullptr;
    std::byte* end = nullptr;
  };
  // A piece of at least `bytes`; what is left over of it is given back with return_slab.
  Slab take_slab(size_t bytes);
  void return_slab(Slab rest);

  // A column of exactly this size that is not used any more, or nullptr.
  std::byte* recycled(size_t bytes);
  void recycle(std::byte* column, size_t bytes);

  uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  uint64_t spilled_bytes() const { return spilled_.load(std::memory_order_relaxed); }
  uint64_t budget_bytes() const { return budget_; }

 private:
  std::byte* map_block(size_t bytes);
  std::byte* map_spill(size_t bytes);

  const uint64_t budget_;
  std::atomic<uint64_t> used_ = 0, spilled_ = 0;
  std::atomic<bool> has_recycled_ = false;
  std::mutex mutex_;  // guards: everything below
  std::vector<Slab> rests_;
  std::map<size_t, std::vector<std::byte*>> recycled_;
  std::vector<std::span<std::byte>> blocks_;
  int spill_fd_ = -1;
  uint64_t spill_size_ = 0;
};

// One thread's way to take columns: most of them cost an addition.
class Bump {
 public:
  explicit Bump(Memory& memory) : memory_(memory) {}
  ~Bump() { release(); }
  Bump(const Bump&) = delete;
  Bump& operator=(const Bump&) = delete;

  // 16-byte aligned; never null.
  std::byte* take(size_t bytes);
  // Gives the rest back for others to use: a file that is not being read holds none.
  void release() {
    memory_.return_slab(slab_);
    slab_ = {};
  }

 private:
  Memory& memory_;
  Memory::Slab slab_;
};

// Half of what the machine has or the cgroup allows.
uint64_t default_memory_budget();

}  // namespace sonde::store
