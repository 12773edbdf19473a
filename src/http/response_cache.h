// Answers sent lately that are still true. A page that polls, or two that show the same run, ask
// for the same bytes again: reading, checking, printing and tagging them once is enough. An answer
// belongs to an address and a version (Route::version); asking with another version forgets it.
// Holds at most `budget_bytes`, the least recently used go first. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/answer.h"

namespace sonde::http {

class ResponseCache {
 public:
  explicit ResponseCache(size_t budget_bytes = 16 << 20) : budget_bytes_(budget_bytes) {}

  std::optional<api::Answer> find(const std::string& address, uint64_t version);

  // Only an answer whose body is a `SharedText` is kept, and none that would push out most others.
  void keep(const std::string& address, uint64_t version, const api::Answer& answer);

  size_t bytes() const;

 private:
  struct Entry {
    std::string address;
    uint64_t version = 0;
    api::Answer answer;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  void drop(Entries::iterator entry);

  const size_t budget_bytes_;
  mutable std::mutex mutex_;                                            // guards: everything below
  Entries entries_;                                                     // least recently used first
  std::unordered_map<std::string_view, Entries::iterator> by_address_;  // views into entries_
  size_t bytes_ = 0;
};

}  // namespace sonde::http
