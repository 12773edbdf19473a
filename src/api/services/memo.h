// Remembers values that are costly to find out again: counted samples, rendered listings, the
// sources of the projector. A value belongs to a key and a mark (a revision): asking with another
// mark replaces it. Keys come from requests, so both the number of entries and the bytes of texts
// are bounded; the least recently used go first. Anything may be dropped at any time: what has to
// stay belongs into Services. Thread-safe; a value is made outside the lock, so two askers may both
// make it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace sonde::api {

class Memo {
 public:
  static constexpr size_t kMaxEntries = 8192;
  static constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;

  template <class T>
  std::shared_ptr<const T> get(const std::string& key, uint64_t mark,
                               const std::function<T(const T* earlier)>& make) {
    std::shared_ptr<const void> earlier;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        entries_.splice(entries_.begin(), entries_, found->second);
        if (found->second->mark == mark)
          return std::static_pointer_cast<const T>(found->second->value);
        earlier = found->second->value;
      }
    }
    auto made = std::make_shared<const T>(make(static_cast<const T*>(earlier.get())));
    uint64_t bytes = key.size();
    if constexpr (std::is_same_v<T, std::string>) bytes += made->size();
    keep({key, mark, bytes, made});
    return made;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    uint64_t mark = 0, bytes = 0;
    std::shared_ptr<const void> value;
  };

  void keep(Entry entry) {
    const std::lock_guard lock(mutex_);
    if (const auto old = by_key_.find(entry.key); old != by_key_.end()) {
      const auto place = old->second;
      bytes_ -= place->bytes;
      by_key_.erase(old);
      entries_.erase(place);
    }
    bytes_ += entry.bytes;
    entries_.push_front(std::move(entry));
    by_key_[entries_.front().key] = entries_.begin();
    while (entries_.size() > 1 && (entries_.size() > kMaxEntries || bytes_ > kMaxTextBytes)) {
      bytes_ -= entries_.back().bytes;
      by_key_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  mutable std::mutex mutex_;  // guards: everything below
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;  // into entries_
  uint64_t bytes_ = 0;
};

}  // namespace sonde::api
