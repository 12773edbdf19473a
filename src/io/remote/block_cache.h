// Pieces of remote objects that were read before: some in memory, more on disk within a budget. A
// block is known by the object's version, so it never grows old; a damaged one is fetched again.
// Thread-safe; several processes share the folder.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "base/result.h"

namespace sonde::io {

inline constexpr uint64_t kRemoteBlock = 1 << 20;

struct CacheCounts {
  uint64_t memory_hits = 0, disk_hits = 0, misses = 0;
};

class BlockCache {
 public:
  using Block = std::shared_ptr<const std::string>;

  // An empty folder or a budget of 0: memory only.
  BlockCache(std::string folder, uint64_t disk_budget_bytes, uint64_t memory_budget_bytes);

  // The block, or null: then the caller fetches it and must end with put() or give_up(). A block
  // that another thread is fetching is waited for.
  Block get_or_begin(const std::string& key);
  // Like it for blocks nobody waits for: false when the block is here or under way.
  bool begin(const std::string& key);
  void put(const std::string& key, std::string bytes);
  void give_up(const std::string& key);

  CacheCounts counts() const { return {memory_hits_, disk_hits_, misses_}; }

 private:
  Block in_memory(const std::string& key);  // under the mutex
  void keep(const std::string& key, Block block);
  Block from_disk(const std::string& key);
  void to_disk(const std::string& key, const std::string& bytes);
  void make_room();
  std::string path_of(const std::string& key) const;

  const std::string folder_;
  const uint64_t disk_budget_, memory_budget_;
  std::mutex mutex_;  // guards: recent_, index_, memory_bytes_, under_way_
  std::condition_variable arrived_;
  std::list<std::pair<std::string, Block>> recent_;  // newest first
  std::unordered_map<std::string, decltype(recent_)::iterator> index_;
  uint64_t memory_bytes_ = 0;
  std::set<std::string> under_way_;
  std::atomic<uint64_t> memory_hits_ = 0, disk_hits_ = 0, misses_ = 0;
  std::mutex disk_mutex_;    // guards: disk_bytes_
  int64_t disk_bytes_ = -1;  // of all blocks in the folder; -1: not counted yet
};

}  // namespace sonde::io
