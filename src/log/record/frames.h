// TFRecord frames over a window of bytes: which records lie in it whole, which checksum is wrong
// where, and where the next good frame begins after damage. No I/O: whoever owns the bytes moves
// the window.
//
//   u64 length | u32 masked crc32c of those 8 bytes | length bytes payload | u32 masked crc32c of
//   it
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "log/record/walk_kernel.h"

namespace sonde::record {

inline constexpr uint64_t kHeader = 12;
inline constexpr uint64_t kFooter = 4;
inline constexpr uint64_t kOverhead = kHeader + kFooter;
// A protobuf message ends at 2 GiB: a longer record cannot be an event.
inline constexpr uint64_t kMaxPayload = (uint64_t{1} << 31) + (uint64_t{1} << 20);

// `at` is the payload's place inside the window, `length` its length.
using Frame = FrameSpan;

enum class Stop : uint8_t {
  kNeedMore,    // the window ends inside a frame (or exactly after one)
  kFull,        // `frames` holds as many as it may
  kLarge,       // the next frame is larger than `large`: not checked, not entered
  kBadLength,   // the length does not match its checksum
  kBadPayload,  // the payload does not match its checksum
};

struct Walk {
  Stop stop = Stop::kNeedMore;
  size_t end = 0;  // where the frame that was not entered begins
};

// Checks frame after frame from `at` and appends the intact ones to `frames` (cleared first), at
// most `capacity`. A frame with a payload above `large` bytes ends the walk.
Walk walk_frames(Bytes window, size_t at, uint64_t large, size_t capacity,
                 std::vector<Frame>& frames);

// The same without the kernel for newer processors; public for the test only.
Walk walk_frames_plain(Bytes window, size_t at, uint64_t large, size_t capacity,
                       std::vector<Frame>& frames);

// The payload length when the 12 bytes at `at` are a header with a correct checksum.
std::optional<uint64_t> header_at(Bytes window, size_t at);

// The first offset >= `from` at which a header with a correct checksum and a length of at most
// `max_length` stands; nothing when the window holds none (its last 11 bytes are not searched).
std::optional<size_t> find_header(Bytes window, size_t from, uint64_t max_length);

}  // namespace sonde::record
