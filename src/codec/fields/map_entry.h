// Field numbers of one entry of a protobuf map, whatever the map holds.
#pragma once

#include <cstdint>

namespace sonde::fields {

struct MapEntry {
  enum : uint32_t {
    kKey = 1,
    kValue = 2,
  };
};

}  // namespace sonde::fields
