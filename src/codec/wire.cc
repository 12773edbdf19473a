#include "codec/wire.h"

namespace sonde::wire {

// Groups nest; a hostile file must not recurse the stack away, so depth is counted, not recursed.
bool Cursor::skip_group(uint32_t number) {
  constexpr int kMaxDepth = 100;
  uint32_t open[kMaxDepth] = {number};
  int depth = 1;
  while (depth > 0) {
    uint64_t key, value;
    if (p_ >= end_ || !(p_ = read_varint(p_, end_, key)) || (key >> 3) == 0) return false;
    const auto inner = static_cast<uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        if (!(p_ = read_varint(p_, end_, value))) return false;
        break;
      case 1:
        if (end_ - p_ < 8) return false;
        p_ += 8;
        break;
      case 2:
        if (!(p_ = read_varint(p_, end_, value)) || value > static_cast<uint64_t>(end_ - p_))
          return false;
        p_ += value;
        break;
      case 3:
        if (depth == kMaxDepth) return false;
        open[depth++] = inner;
        break;
      case 4:
        if (open[--depth] != inner) return false;
        break;
      case 5:
        if (end_ - p_ < 4) return false;
        p_ += 4;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace sonde::wire
