// Gives each distinct string a small number, once. Views stay valid as long as the table. Not
// thread-safe.
//
// Captures bring millions of names that occur once: a text costs its length and about 25 bytes (its
// length and place, and a slot of the index that is filled to between 3/8 and 3/4), and no
// allocation of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace sonde {

class StringTable {
 public:
  uint32_t id(std::string_view text) {
    if (4 * (places_.size() + 1) > 3 * slots_.size()) grow();
    const uint64_t hash = hash_of(text);
    Slot& slot = slots_[slot_of(text, hash)];
    if (slot.id == kFree) {
      slot = {static_cast<uint32_t>(hash), static_cast<uint32_t>(places_.size())};
      places_.push_back(keep(text));
    }
    return slot.id;
  }
  // The number of a string that is already there, or -1 as uint32_t.
  uint32_t find(std::string_view text) const {
    return slots_.empty() ? kFree : slots_[slot_of(text, hash_of(text))].id;
  }
  std::string_view text(uint32_t id) const {
    const char* place = places_[id];
    uint32_t size;
    std::memcpy(&size, place, sizeof size);
    return {place + sizeof size, size};
  }
  size_t size() const { return places_.size(); }
  size_t memory_bytes() const {
    return text_bytes_ + places_.capacity() * sizeof(char*) + slots_.size() * sizeof(Slot);
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kBlock = size_t{1} << 18;

  struct Slot {
    uint32_t hash;  // its low half: most other strings are told apart without a look at them
    uint32_t id = kFree;
  };

  static uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }
  size_t first_slot(uint32_t hash) const { return hash * 0x9e3779b97f4a7c15u >> shift_; }

  // Where the text is, or the free slot where it belongs.
  size_t slot_of(std::string_view text, uint64_t hash) const {
    const auto low = static_cast<uint32_t>(hash);
    size_t at = first_slot(low);
    while (slots_[at].id != kFree && (slots_[at].hash != low || this->text(slots_[at].id) != text))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> old(std::max<size_t>(16, 2 * slots_.size()));
    old.swap(slots_);
    shift_ = 64;
    for (size_t n = slots_.size(); n > 1; n /= 2) --shift_;
    for (const Slot& slot : old) {
      if (slot.id == kFree) continue;
      size_t at = first_slot(slot.hash);
      while (slots_[at].id != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  // A text lies behind its length in a block that never moves.
  const char* keep(std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    const size_t needed = sizeof size + text.size();
    if (blocks_.empty()) room_ = text_bytes_ = 0;  // new, or moved from
    if (needed > room_) {
      // A long one gets a block of its own, so that the one in use is not left half empty.
      const bool is_long = needed > kBlock / 8;
      const size_t block = is_long ? needed : places_.size() < 64 ? kBlock / 64 : kBlock;
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(std::max(block, needed)));
      text_bytes_ += std::max(block, needed);
      if (is_long) {
        write(blocks_.back().get(), text, size);
        return blocks_.back().get();
      }
      next_ = blocks_.back().get();
      room_ = std::max(block, needed);
    }
    char* place = next_;
    write(place, text, size);
    next_ += needed;
    room_ -= needed;
    return place;
  }
  static void write(char* place, std::string_view text, uint32_t size) {
    std::memcpy(place, &size, sizeof size);
    if (size != 0) std::memcpy(place + sizeof size, text.data(), size);
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0, text_bytes_ = 0;
  std::vector<const char*> places_;
  std::vector<Slot> slots_;  // a power of two of them
  int shift_ = 64;
};

}  // namespace sonde
