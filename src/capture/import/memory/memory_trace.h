// How a snapshot of device memory lies in a Trace, whichever program wrote it. A device is a process
// track. What happened is instants on its track "allocator", named by the action (alloc, free …);
// what there was when the snapshot was taken is slices without a time on "blocks" and "segments".
// Sizes are arguments, stacks one text: innermost frame first, a line each.
#pragma once

#include <string>
#include <string_view>

#include "capture/trace/builder.h"

namespace sonde::imports {

inline constexpr std::string_view kMemoryEvents = "allocator", kMemoryBlocks = "blocks",
                                  kMemorySegments = "segments";

// One device of the snapshot being filled.
struct MemoryDevice {
  MemoryDevice(trace::Builder& builder, std::string_view name, int64_t id);
  trace::TrackId process, events, blocks, segments;
};

// `dir/file.py(12): function`, as PyTorch's profiler writes a frame.
std::string frame_text(std::string_view file, int64_t line, std::string_view function);

}  // namespace sonde::imports
