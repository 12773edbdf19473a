#include "log/record/frames.h"

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

namespace {

#if defined(__x86_64__)
bool has_kernel() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("sse4.2"); }
#else
bool has_kernel() { return false; }
#endif

// The frame at `at`, judged in full.
Walk walk_one(Bytes window, size_t at, uint64_t large, Frame& frame) {
  if (window.size() - at < kHeader) return {Stop::kNeedMore, at};
  const uint64_t length = load<uint64_t>(window, at);
  if (masked_crc32c(window.subspan(at, 8)) != load<uint32_t>(window, at + 8))
    return {Stop::kBadLength, at};
  if (length > large) return {Stop::kLarge, at};
  if (length > window.size() || window.size() - at < length + kOverhead)
    return {Stop::kNeedMore, at};
  const Bytes payload = window.subspan(at + kHeader, length);
  if (masked_crc32c(payload) != load<uint32_t>(window, at + kHeader + length))
    return {Stop::kBadPayload, at};
  frame = {static_cast<uint32_t>(at + kHeader), static_cast<uint32_t>(length)};
  return {Stop::kFull, at + length + kOverhead};
}

Walk walk(Bytes window, size_t at, uint64_t large, size_t capacity, std::vector<Frame>& frames,
          bool kernel) {
  frames.resize(capacity);
  size_t count = 0;
  Walk result{Stop::kFull, at};
  while (count < capacity) {
#if defined(__x86_64__)
    if (kernel) {
      const KernelWalk walked =
          walk_kernel_avx2(reinterpret_cast<const uint8_t*>(window.data()), window.size(), at,
                           large, frames.data() + count, capacity - count);
      count += walked.count;
      result.end = at = walked.end;
      if (walked.stop == KernelStop::kFull) break;
    }
#endif
    result = walk_one(window, at, large, frames[count]);
    at = result.end;
    if (result.stop != Stop::kFull) break;
    ++count;
  }
  frames.resize(count);
  return result;
}

}  // namespace

Walk walk_frames(Bytes window, size_t at, uint64_t large, size_t capacity,
                 std::vector<Frame>& frames) {
  static const bool kernel = has_kernel();
  return walk(window, at, large, capacity, frames, kernel);
}

Walk walk_frames_plain(Bytes window, size_t at, uint64_t large, size_t capacity,
                       std::vector<Frame>& frames) {
  return walk(window, at, large, capacity, frames, false);
}

}  // namespace sonde::record
