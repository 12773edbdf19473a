#include "io/remote/block_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/sha256.h"
#include "io/file.h"

namespace sonde::io {
namespace fs = std::filesystem;

BlockCache::BlockCache(std::string folder, uint64_t disk_budget_bytes, uint64_t memory_budget_bytes)
    : folder_(disk_budget_bytes == 0 ? "" : std::move(folder)),
      disk_budget_(disk_budget_bytes),
      memory_budget_(memory_budget_bytes) {}

BlockCache::Block BlockCache::in_memory(const std::string& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

void BlockCache::keep(const std::string& key, Block block) {
  const std::lock_guard lock(mutex_);
  if (index_.contains(key)) return;
  memory_bytes_ += block->size();
  recent_.emplace_front(key, std::move(block));
  index_[key] = recent_.begin();
  while (memory_bytes_ > memory_budget_ && recent_.size() > 1) {
    memory_bytes_ -= recent_.back().second->size();
    index_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

BlockCache::Block BlockCache::get_or_begin(const std::string& key) {
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (Block block = in_memory(key)) {
        ++memory_hits_;
        return block;
      }
      if (under_way_.insert(key).second) break;
      arrived_.wait(lock);
    }
  }
  if (Block block = from_disk(key)) {
    ++disk_hits_;
    keep(key, block);
    give_up(key);
    return block;
  }
  ++misses_;
  return nullptr;
}

bool BlockCache::begin(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (index_.contains(key) || !under_way_.insert(key).second) return false;
  }
  if (Block block = from_disk(key)) {
    ++disk_hits_;
    keep(key, std::move(block));
    give_up(key);
    return false;
  }
  ++misses_;
  return true;
}

void BlockCache::put(const std::string& key, std::string bytes) {
  to_disk(key, bytes);
  keep(key, std::make_shared<const std::string>(std::move(bytes)));
  give_up(key);
}

void BlockCache::give_up(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(key);
  }
  arrived_.notify_all();
}

std::string BlockCache::path_of(const std::string& key) const {
  const std::string name = sha256_hex(key);
  return folder_ + "/" + name.substr(0, 2) + "/" + name;
}

// A block's file is its bytes, then their checksum.
BlockCache::Block BlockCache::from_disk(const std::string& key) {
  if (folder_.empty()) return nullptr;
  const std::string path = path_of(key);
  auto bytes = read_file(path, kRemoteBlock + sizeof(uint32_t));
  if (!bytes) return nullptr;
  const size_t size = bytes->size() < sizeof(uint32_t) ? 0 : bytes->size() - sizeof(uint32_t);
  if (size == 0 ||
      masked_crc32c(as_bytes(*bytes).first(size)) != load<uint32_t>(as_bytes(*bytes), size)) {
    ::unlink(path.c_str());
    return nullptr;
  }
  bytes->resize(size);
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now: not the first to go
  return std::make_shared<const std::string>(std::move(*bytes));
}

void BlockCache::to_disk(const std::string& key, const std::string& bytes) {
  if (folder_.empty() || bytes.empty()) return;
  const std::string path = path_of(key);
  const fs::path parent = fs::path(path).parent_path();
  std::error_code error;
  if (!fs::exists(folder_, error)) {
    fs::create_directories(folder_, error);
    ::chmod(folder_.c_str(), 0700);  // the logs may not be everybody's
  }
  fs::create_directories(parent, error);
  const std::string temporary = path + ".new." + std::to_string(::getpid()) + "." +
                                std::to_string(reinterpret_cast<uintptr_t>(&bytes));
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;  // no cache costs time, nothing else
  const uint32_t checksum = masked_crc32c(as_bytes(bytes));
  std::string content = bytes;
  content.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  const ssize_t written = ::write(fd, content.data(), content.size());
  ::close(fd);
  if (written != static_cast<ssize_t>(content.size()) ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  const std::lock_guard lock(disk_mutex_);
  if (disk_bytes_ >= 0) disk_bytes_ += static_cast<int64_t>(content.size());
  make_room();
}

// Removes what was used longest ago until a fifth of the budget is free.
void BlockCache::make_room() {
  if (disk_bytes_ >= 0 && disk_bytes_ <= static_cast<int64_t>(disk_budget_)) return;
  struct Entry {
    fs::file_time_type time;
    std::string path;
    uint64_t size;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const uint64_t size = at->file_size(gone);
    if (gone) continue;
    total += size;
    entries.push_back({at->last_write_time(gone), at->path().string(), size});
  }
  if (total > disk_budget_) {
    std::ranges::sort(entries, {}, &Entry::time);
    for (const Entry& entry : entries) {
      if (total <= disk_budget_ / 5 * 4) break;
      if (::unlink(entry.path.c_str()) == 0) total -= entry.size;
    }
  }
  disk_bytes_ = static_cast<int64_t>(total);
}

}  // namespace sonde::io
