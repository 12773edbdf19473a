#include "log/model/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/log.h"

namespace sonde::store {
namespace {

constexpr size_t kBlock = size_t{4} << 20;
constexpr size_t kWorthKeeping = 4096;  // a rest smaller than this is left unused

size_t rounded_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

int open_spill_file() {
  const char* folder = std::getenv("TMPDIR");
  // /var/tmp before /tmp: the latter is often memory itself.
  for (const std::string& place : {std::string(folder ? folder : ""), std::string("/var/tmp"),
                                   std::string("/tmp"), std::string(".")}) {
    if (place.empty()) continue;
    std::string name = place + "/sonde-columns-XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) continue;
    ::unlink(name.c_str());
    return fd;
  }
  return -1;
}

}  // namespace

Memory::Memory(uint64_t budget_bytes)
    : budget_(budget_bytes ? budget_bytes : default_memory_budget()) {}

Memory::~Memory() {
  for (const std::span<std::byte> block : blocks_) ::munmap(block.data(), block.size());
  if (spill_fd_ >= 0) ::close(spill_fd_);
}

Memory::Slab Memory::take_slab(size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (size_t i = rests_.size(); i-- > 0;) {
    const Slab rest = rests_[i];
    if (static_cast<size_t>(rest.end - rest.at) < bytes) continue;
    rests_.erase(rests_.begin() + static_cast<ptrdiff_t>(i));
    return rest;
  }
  const size_t size = rounded_up(bytes, kBlock);
  std::byte* at = used_ + size > budget_ ? map_spill(size) : nullptr;
  if (!at) at = map_block(size);
  return {at, at + size};
}

void Memory::return_slab(Slab rest) {
  if (static_cast<size_t>(rest.end - rest.at) < kWorthKeeping) return;
  const std::lock_guard lock(mutex_);
  rests_.push_back(rest);
}

std::byte* Memory::recycled(size_t bytes) {
  if (!has_recycled_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = recycled_.find(bytes);
  if (found == recycled_.end() || found->second.empty()) return nullptr;
  std::byte* column = found->second.back();
  found->second.pop_back();
  return column;
}

void Memory::recycle(std::byte* column, size_t bytes) {
  const std::lock_guard lock(mutex_);
  recycled_[bytes].push_back(column);
  has_recycled_.store(true, std::memory_order_relaxed);
}

std::byte* Memory::map_block(size_t bytes) {
  // Huge pages are not asked for: on a machine whose memory is in pieces (any that has just read
  // large files) the kernel moves pages about to make one, which costs three times what they save.
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    log::error("no memory for {} more bytes of columns", bytes);
    std::abort();
  }
  blocks_.push_back({static_cast<std::byte*>(at), bytes});
  used_ += bytes;
  return static_cast<std::byte*>(at);
}

std::byte* Memory::map_spill(size_t bytes) {
  if (spill_fd_ == -2) return nullptr;
  if (spill_fd_ == -1) {
    spill_fd_ = open_spill_file();
    log::warn("the memory budget of {} MB is used up: further points go to a file on disk",
              budget_ >> 20);
  }
  // Space is really reserved: a full disk must show here and not as a fault at the first write.
  if (spill_fd_ < 0 || ::posix_fallocate(spill_fd_, static_cast<off_t>(spill_size_),
                                         static_cast<off_t>(bytes)) != 0) {
    log::warn("no disk space to spill columns to: the memory budget will be exceeded");
    if (spill_fd_ >= 0 && spill_size_ == 0) ::close(spill_fd_);
    if (spill_size_ == 0) spill_fd_ = -2;
    return nullptr;
  }
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spill_fd_,
                    static_cast<off_t>(spill_size_));
  if (at == MAP_FAILED) return nullptr;
  spill_size_ += bytes;
  spilled_ += bytes;
  blocks_.push_back({static_cast<std::byte*>(at), bytes});
  return static_cast<std::byte*>(at);
}

std::byte* Bump::take(size_t bytes) {
  bytes = rounded_up(bytes, 16);
  if (std::byte* again = memory_.recycled(bytes)) return again;
  if (static_cast<size_t>(slab_.end - slab_.at) < bytes) {
    memory_.return_slab(slab_);
    slab_ = memory_.take_slab(bytes);
  }
  std::byte* at = slab_.at;
  slab_.at += bytes;
  return at;
}

uint64_t default_memory_budget() {
  const auto pages = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  uint64_t bytes = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    uint64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);  // "max" is not a number
  }
  return bytes / 2;
}

}  // namespace sonde::store
