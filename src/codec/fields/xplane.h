// Field numbers of tensorflow.profiler.XSpace and of what it holds (xplane.proto).
#pragma once

#include <cstdint>

namespace sonde::fields {

struct XSpace {
  enum : uint32_t {
    kPlanes = 1,
    kErrors = 2,
    kWarnings = 3,
    kHostnames = 4,
  };
};

struct XPlane {
  enum : uint32_t {
    kId = 1,
    kName = 2,
    kLines = 3,
    kEventMetadata = 4,
    kStatMetadata = 5,
    kStats = 6,
  };
};

struct XLine {
  enum : uint32_t {
    kId = 1,
    kName = 2,
    kTimestampNs = 3,
    kEvents = 4,
    kDurationPs = 9,
    kDisplayId = 10,
    kDisplayName = 11,
  };
};

// An event has either an offset, and a place on the time axis, or a number of occurrences.
struct XEvent {
  enum : uint32_t {
    kMetadataId = 1,
    kOffsetPs = 2,
    kDurationPs = 3,
    kStats = 4,
    kOccurrences = 5,
  };
};

struct XStat {
  enum : uint32_t {
    kMetadataId = 1,
    kDouble = 2,
    kUint64 = 3,
    kInt64 = 4,
    kText = 5,
    kBytes = 6,
    kReference = 7,
  };
};

struct XEventMetadata {
  enum : uint32_t {
    kId = 1,
    kName = 2,
    kMetadata = 3,
    kDisplayName = 4,
    kStats = 5,
    kChildIds = 6,
  };
};

struct XStatMetadata {
  enum : uint32_t {
    kId = 1,
    kName = 2,
    kDescription = 3,
  };
};

}  // namespace sonde::fields
