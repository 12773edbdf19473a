// The short cut past the protobuf walk. Writers put wall time and step first (a step of 0 is left
// out), and behind them the same bytes into every record of a series but for the value, so a record
// that equals the series' last one there has the same fields at the same places: one masked compare
// replaces the walk.
// Which series to compare with is guessed: the one that followed last time. Learnt from full walks,
// exact by construction, wrong guesses fall back to the walk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/units.h"
#include "log/event/tensor.h"
#include "log/model/part.h"

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
  // What only this series has, and where its next point goes. With thousands of them every cache
  // line counts: a tag of up to kNearTag bytes needs one here, and none of the part's own.
  struct alignas(64) Entry {
    std::byte* columns = nullptr;     // of the part's last chunk; null: not looked up
    uint32_t size = 0, capacity = 0;  // of that chunk; its own size is behind until settled
    uint16_t length = 0;              // of the layout; 0: no template
    uint16_t layout = 0;
    std::array<uint8_t, kMaxTag> tag{};

    void hold(const Chunk& chunk) {
      columns = chunk.columns;
      size = chunk.size;
      capacity = chunk.capacity;
    }
    Chunk chunk() const { return {.columns = columns, .size = size, .capacity = capacity}; }
  };
  static_assert(sizeof(Entry) == 128);
  static constexpr size_t kNearTag = 64 - offsetof(Entry, tag);

  // Remembers the form of the record that was just added to `part` the long way. `chunk` is the
  // part's last one. Nothing is learnt from forms that hold more than one number.
  void learn(Bytes payload, uint32_t part, const Chunk& chunk);
  // What came after `part` will be expected after it.
  void follows(uint32_t part, uint32_t next) {
    make_entry(part);
    next_[part] = next;
  }
  void forget() {
    entries_ = {};
    next_ = {};
  }
  // Without the places of the points: for another sink.
  Shortcut forms() const {
    Shortcut copy = *this;
    for (Entry& entry : copy.entries_) entry.columns = nullptr;
    return copy;
  }

  size_t size() const { return entries_.size(); }  // both arrays are as long
  Entry* entries() { return entries_.data(); }
  const uint32_t* next() const { return next_.data(); }  // by part: the one that came after it
  bool has_far_tags() const { return has_far_tags_; }
  const Layout& layout(const Entry& entry) const { return layouts_[entry.layout]; }

  // Where the rest of a record begins that begins with wall time and step, else 0. Reads 18 bytes.
  static size_t rest_at(const uint8_t* record) {
    if (record[0] != 0x09) return 0;
    if (record[kStepAt - 1] != 0x10) return kStepAt - 1;
    uint64_t x;
    std::memcpy(&x, record + kStepAt, 8);
    const uint64_t ends = ~x & 0x8080808080808080;
    return ends == 0 ? 0 : kStepAt + static_cast<size_t>(__builtin_ctzll(ends)) / 8 + 1;
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

  // The step of a record whose rest begins at `rest`.
  static Step step_of(const uint8_t* record, size_t rest) {
    if (rest < kStepAt) return 0;
    const size_t length = rest - kStepAt;
    uint64_t x;
    std::memcpy(&x, record + kStepAt, 8);
    x &= ~uint64_t{0} >> (64 - 8 * length);
    x = (x & 0x007f007f007f007f) | ((x & 0x7f007f007f007f00) >> 1);
    x = (x & 0x00003fff00003fff) | ((x & 0x3fff00003fff0000) >> 2);
    x = (x & 0x000000000fffffff) | ((x & 0x0fffffff00000000) >> 4);
    return static_cast<Step>(x);
  }

 private:
  Entry& make_entry(uint32_t part) {
    if (part >= entries_.size()) {
      entries_.resize(part + 1);
      next_.resize(part + 1, kNone);
    }
    return entries_[part];
  }

  std::vector<Entry> entries_;  // by part
  std::vector<uint32_t> next_;  // apart from them: small enough to look far ahead
  bool has_far_tags_ = false;
  std::vector<Layout> layouts_;
};

// Fetches what the next records will need into the cache. With thousands of series the memory of
// each is cold when its turn comes: of a load of 10 000 series half the inner loop was spent
// waiting for it (perf, bench/load.py many_tags).
class Ahead {
 public:
  Ahead(Shortcut& shortcut, uint32_t last) : shortcut_(shortcut) {
    if (shortcut.size() <= kWarm) return;
    far_ = near_ = last;
    for (int i = 0; i < kColumns; ++i) near_ = after(near_);
    far_ = near_;
    for (int i = kColumns; i < kEntry; ++i) far_ = after(far_);
  }

  void move() {
    if (far_ == Shortcut::kNone) return;
    const Shortcut::Entry* const entries = shortcut_.entries();
    far_ = after(far_);
    __builtin_prefetch(&entries[far_], 1);
    if (shortcut_.has_far_tags()) __builtin_prefetch(entries[far_].tag.data() + Shortcut::kNearTag);
    near_ = after(near_);
    const Shortcut::Entry& entry = entries[near_];
    if (!entry.columns || entry.length == 0) return;
    const Chunk chunk = entry.chunk();
    __builtin_prefetch(chunk.steps() + chunk.size, 1);
    __builtin_prefetch(chunk.wall_times() + chunk.size, 1);
    __builtin_prefetch(chunk.values() + shortcut_.layout(entry).width * chunk.size, 1);
  }

 private:
  static constexpr size_t kWarm = 256;  // series whose state stays near anyway
  static constexpr int kColumns = 4, kEntry = 8;

  uint32_t after(uint32_t part) const {
    const uint32_t next = shortcut_.next()[part];
    return next == Shortcut::kNone ? part : next;
  }

  Shortcut& shortcut_;
  uint32_t near_ = Shortcut::kNone, far_ = Shortcut::kNone;
};

}  // namespace sonde::store
