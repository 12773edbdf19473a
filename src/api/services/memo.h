// Remembers what is costly to find out again: counted samples, rendered descriptions, the sources
// of the projector. A value belongs to a key and a mark (a revision): asking with another mark
// forgets the old value. Thread-safe; the value is made outside the lock, so two askers may both
// make it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace sonde::api {

class Memo {
 public:
  template <class T>
  std::shared_ptr<const T> get(const std::string& key, uint64_t mark,
                               const std::function<T(const T* earlier)>& make) {
    std::shared_ptr<const void> earlier;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = entries_.find(key); found != entries_.end()) {
        if (found->second.mark == mark)
          return std::static_pointer_cast<const T>(found->second.value);
        earlier = found->second.value;
      }
    }
    auto made = std::make_shared<const T>(make(static_cast<const T*>(earlier.get())));
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMaxEntries) entries_.clear();
    entries_[key] = {mark, made};
    return made;
  }

 private:
  static constexpr size_t kMaxEntries = 100'000;
  struct Entry {
    uint64_t mark = 0;
    std::shared_ptr<const void> value;
  };
  std::mutex mutex_;  // guards: entries_
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace sonde::api
