#include "capture/import/memory/memory_trace.h"

#include <fmt/format.h>

namespace sonde::imports {

using trace::TrackKind;

MemoryDevice::MemoryDevice(trace::Builder& builder, std::string_view name, int64_t id)
    : process(builder.process(name, id)),
      events(builder.track(TrackKind::kThread, process, kMemoryEvents, 0)),
      blocks(builder.track(TrackKind::kAggregate, process, kMemoryBlocks, 1)),
      segments(builder.track(TrackKind::kAggregate, process, kMemorySegments, 2)) {}

std::string frame_text(std::string_view file, int64_t line, std::string_view function) {
  if (file.empty() || file == "??") return std::string(function);
  if (function.empty()) return fmt::format("{}({})", file, line);
  return fmt::format("{}({}): {}", file, line, function);
}

}  // namespace sonde::imports
