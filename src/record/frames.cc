#include "record/frames.h"

#include "base/crc32c.h"

namespace sonde::record {

std::optional<uint64_t> header_at(Bytes window, size_t at) {
  if (at > window.size() || window.size() - at < kHeader) return std::nullopt;
  if (masked_crc32c(window.subspan(at, 8)) != load<uint32_t>(window, at + 8)) return std::nullopt;
  return load<uint64_t>(window, at);
}

std::optional<size_t> find_header(Bytes window, size_t from, uint64_t max_length) {
  if (window.size() < kHeader) return std::nullopt;
  for (size_t at = from; at <= window.size() - kHeader; ++at) {
    // Almost every offset in foreign bytes claims an absurd length: that costs no checksum.
    if (load<uint64_t>(window, at) > max_length) continue;
    if (header_at(window, at)) return at;
  }
  return std::nullopt;
}

Walk walk_frames(Bytes window, size_t at, uint64_t large, size_t capacity,
                 std::vector<Frame>& frames) {
  frames.clear();
  while (frames.size() < capacity) {
    if (window.size() - at < kHeader) return {Stop::kNeedMore, at};
    const uint64_t length = load<uint64_t>(window, at);
    if (masked_crc32c(window.subspan(at, 8)) != load<uint32_t>(window, at + 8))
      return {Stop::kBadLength, at};
    if (length > large) return {Stop::kLarge, at};
    if (window.size() - at < length + kOverhead) return {Stop::kNeedMore, at};
    const Bytes payload = window.subspan(at + kHeader, length);
    if (masked_crc32c(payload) != load<uint32_t>(window, at + kHeader + length))
      return {Stop::kBadPayload, at};
    frames.push_back({static_cast<uint32_t>(at + kHeader), static_cast<uint32_t>(length)});
    at += length + kOverhead;
  }
  return {Stop::kFull, at};
}

}  // namespace sonde::record
