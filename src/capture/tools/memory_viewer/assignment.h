// The compiler's BufferAssignmentProto: which buffers a program has, in which allocation each lies,
// and the order in which the compiler simulated their lives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde::capture::memory_viewer {

struct Buffer {
  int64_t id = 0, size = 0, instruction = 0, color = 0;
  std::vector<int64_t> shape_index;
  std::string instruction_name;
};

struct Assigned {
  int64_t buffer = 0, offset = 0, size = 0;
};

struct Allocation {
  int64_t index = 0, size = 0, color = 0, parameter_number = 0;
  bool thread_local_ = false, parameter = false, live_out = false, is_tuple = false,
       constant = false;
  std::vector<Assigned> assigned;
  bool indefinite() const { return thread_local_ || parameter || live_out || constant; }
  bool reusable() const { return !thread_local_ && !is_tuple; }
};

struct HeapEvent {
  int64_t kind = 0, buffer = 0, shared_with = 0;
  std::string_view instruction;
};

struct HeapTrace {
  std::vector<HeapEvent> events;
  int64_t allocation = 0;
};

struct Assignment {
  std::map<int64_t, Buffer> buffers;
  std::vector<Allocation> allocations;
  std::vector<HeapTrace> traces;
};

// Views of `HeapEvent` point into the message.
Assignment parse_assignment(Bytes message);

}  // namespace sonde::capture::memory_viewer
