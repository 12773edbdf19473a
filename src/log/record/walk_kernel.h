// The inner loop of walk_frames: intact short frames, one after the other, until something else
// comes. Plain types only, so that the version for newer processors shares no code with the rest.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::record {

struct FrameSpan {
  uint32_t at, length;
};

inline constexpr uint64_t kKernelMax = 3072;  // longer payloads are checked elsewhere

enum class KernelStop : uint8_t {
  kFull,
  kElsewhere,  // a frame that is long, cut off or damaged: the plain loop finds out which
};

struct KernelWalk {
  KernelStop stop;
  size_t end;
  size_t count;
};

KernelWalk walk_kernel_avx2(const uint8_t* window, size_t size, size_t at, uint64_t large,
                            FrameSpan* frames, size_t capacity);

}  // namespace sonde::record
