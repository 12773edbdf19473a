// Gives each distinct string a small number, once. Views stay valid as long as the table. Not
// thread-safe.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace sonde {

class StringTable {
 public:
  uint32_t id(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);  // a deque never moves its elements
    const auto id = static_cast<uint32_t>(texts_.size() - 1);
    ids_.emplace(kept, id);
    return id;
  }
  // The number of a string that is already there, or -1 as uint32_t.
  uint32_t find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? UINT32_MAX : found->second;
  }
  std::string_view text(uint32_t id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  boost::unordered_flat_map<std::string_view, uint32_t> ids_;
};

}  // namespace sonde
