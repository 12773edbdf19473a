#include "http/response_cache.h"

#include <utility>

namespace sonde::http {
namespace {

constexpr size_t kLargestShare = 8;      // an answer may take this part of the budget
constexpr size_t kOverheadBytes = 1024;  // an entry's own strings and nodes, about

}  // namespace

std::optional<api::Answer> ResponseCache::find(const std::string& address, uint64_t version) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  if (found->second->version != version) {
    drop(found->second);
    return std::nullopt;
  }
  entries_.splice(entries_.end(), entries_, found->second);
  return found->second->answer;
}

void ResponseCache::keep(const std::string& address, uint64_t version, const api::Answer& answer) {
  const auto* shared = std::get_if<api::SharedText>(&answer.body);
  if (!shared) return;
  const size_t size = (*shared)->size() + 2 * address.size() + kOverheadBytes;
  if (size > budget_bytes_ / kLargestShare) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_address_.find(address); found != by_address_.end()) {
    drop(found->second);
  }
  entries_.push_back({address, version, answer, size});
  by_address_.emplace(entries_.back().address, std::prev(entries_.end()));
  bytes_ += size;
  while (bytes_ > budget_bytes_) drop(entries_.begin());
}

size_t ResponseCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void ResponseCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_address_.erase(entry->address);
  entries_.erase(entry);
}

}  // namespace sonde::http
