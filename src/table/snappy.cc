#include "table/snappy.h"

#include <cstdint>

namespace sonde::table {

Result<std::string> unsnapped(std::string_view block, size_t size) {
  const auto broken = [] { return fail(Code::kCorrupt, "a page is no Snappy block"); };
  size_t at = 0;
  const auto byte = [&]() -> uint64_t { return static_cast<uint8_t>(block[at++]); };
  uint64_t length = 0;
  for (int shift = 0;; shift += 7) {
    if (at >= block.size() || shift > 28) return broken();
    const uint64_t b = byte();
    length |= (b & 127) << shift;
    if (b < 128) break;
  }
  if (length != size) return broken();
  std::string out;
  out.reserve(size);
  while (at < block.size()) {
    const uint64_t tag = byte();
    const auto little = [&](size_t count) {
      uint64_t value = 0;
      for (size_t i = 0; i < count; ++i) value |= byte() << (8 * i);
      return value;
    };
    if ((tag & 3) == 0) {
      uint64_t run = tag >> 2;
      if (run >= 60) {
        const size_t bytes = run - 59;
        if (bytes > block.size() - at) return broken();
        run = little(bytes);
      }
      ++run;
      if (run > block.size() - at || run > size - out.size()) return broken();
      out.append(block.substr(at, run));
      at += run;
      continue;
    }
    const size_t bytes = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
    if (bytes > block.size() - at) return broken();
    const uint64_t low = little(bytes);
    const uint64_t run = bytes == 1 ? 4 + (tag >> 2 & 7) : 1 + (tag >> 2);
    const uint64_t back = bytes == 1 ? (tag >> 5) << 8 | low : low;
    if (back == 0 || back > out.size() || run > size - out.size()) return broken();
    // The copy may overlap what it writes: a run of one byte is a copy from one byte back.
    for (uint64_t i = 0; i < run; ++i) out.push_back(out[out.size() - back]);
  }
  if (out.size() != size) return broken();
  return out;
}

}  // namespace sonde::table
