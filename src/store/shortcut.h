// The short cut past the protobuf walk. Writers put wall time and step first, and behind them the
// same bytes into every record of a series but for the value, so a record that equals the series'
// last one there has the same fields at the same places: one masked compare replaces the walk.
// Which series to compare with is guessed: the one that followed last time. Learnt from full walks,
// exact by construction, wrong guesses fall back to the walk.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/units.h"
#include "event/tensor.h"
#include "store/part.h"

namespace sonde::store {

class Shortcut {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBlock = 16;
  static constexpr size_t kMaxLength = 144;  // behind the step, to be worth a template
  static constexpr size_t kStepAt = 10;      // a tag, eight bytes of wall time, a tag

  static constexpr size_t kMaxTag = 104;

  // What the records of all series of one form have behind the step, but for tag and value.
  struct Layout {
    uint32_t length = 0;
    uint8_t tag_at = 0, tag_length = 0;
    uint8_t value_at = 0;
    uint8_t width = 4;  // of the value: float or double
    alignas(16) std::array<uint8_t, kMaxLength> mask{};
    alignas(16) std::array<uint8_t, kMaxLength> pattern{};  // masked

    bool operator==(const Layout&) const = default;
    ValueType type() const { return width == 4 ? ValueType::kFloat32 : ValueType::kFloat64; }
  };
  // What only this series has. With thousands of them every cache line counts: a tag of up to 40
  // bytes needs one.
  struct alignas(64) Entry {
    Chunk* chunk = nullptr;  // the part's last one; null: not looked up
    uint32_t length = 0;     // of the layout; 0: no template
    uint32_t layout = 0;
    uint32_t next = kNone;  // the part that came after this one
    std::array<uint8_t, kMaxTag> tag{};
  };
  static_assert(sizeof(Entry) == 128);

  // Remembers the form of the record that was just added to `part` the long way. `chunk` is the
  // part's last one. Nothing is learnt from forms that hold more than one number.
  void learn(Bytes payload, uint32_t part, Chunk* chunk);
  // The part has another last chunk.
  void forget_chunk(uint32_t part) {
    if (part < entries_.size()) entries_[part].chunk = nullptr;
  }
  void forget_chunks() {
    for (Entry& entry : entries_) entry.chunk = nullptr;
  }
  void forget() { entries_ = {}; }

  Entry* entry(uint32_t part) { return part < entries_.size() ? &entries_[part] : nullptr; }
  Entry& make_entry(uint32_t part) {
    if (part >= entries_.size()) entries_.resize(part + 1);
    return entries_[part];
  }
  const Layout& layout(const Entry& entry) const { return layouts_[entry.layout]; }

  static void prefetch(const Entry& entry) {
    __builtin_prefetch(&entry);
    __builtin_prefetch(entry.tag.data() + 48);
  }

  // Bytes of the step's varint when the record begins with wall time and step, else 0. Reads 18.
  static size_t step_length(const uint8_t* record) {
    if (record[0] != 0x09 || record[kStepAt - 1] != 0x10) return 0;
    uint64_t x;
    std::memcpy(&x, record + kStepAt, 8);
    const uint64_t ends = ~x & 0x8080808080808080;
    return ends == 0 ? 0 : static_cast<size_t>(__builtin_ctzll(ends)) / 8 + 1;
  }

  // Whether what stands behind the step is the entry's; reads up to 15 bytes behind it.
  static bool matches(const Entry& entry, const Layout& layout, const uint8_t* record) {
    using Lane = uint64_t __attribute__((vector_size(16)));
    Lane differs = {0, 0};
    for (size_t at = 0; at < layout.length; at += kBlock) {
      Lane bytes, mask, pattern;
      std::memcpy(&bytes, record + at, kBlock);
      std::memcpy(&mask, layout.mask.data() + at, kBlock);
      std::memcpy(&pattern, layout.pattern.data() + at, kBlock);
      differs |= (bytes & mask) ^ pattern;
    }
    return (differs[0] | differs[1]) == 0 &&
           std::memcmp(entry.tag.data(), record + layout.tag_at, layout.tag_length) == 0;
  }

  // A varint of `length` <= 8 bytes whose form has been checked.
  static Step step_of(const uint8_t* at, size_t length) {
    uint64_t x;
    std::memcpy(&x, at, 8);
    x &= ~uint64_t{0} >> (64 - 8 * length);
    x = (x & 0x007f007f007f007f) | ((x & 0x7f007f007f007f00) >> 1);
    x = (x & 0x00003fff00003fff) | ((x & 0x3fff00003fff0000) >> 2);
    x = (x & 0x000000000fffffff) | ((x & 0x0fffffff00000000) >> 4);
    return static_cast<Step>(x);
  }

 private:
  std::vector<Entry> entries_;  // by part
  std::vector<Layout> layouts_;
};

}  // namespace sonde::store
