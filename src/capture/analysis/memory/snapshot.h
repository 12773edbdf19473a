// A snapshot of device memory (torch.cuda.memory, jax.profiler.save_device_memory_profile): what lay
// there, who allocated it, and, where the history was recorded, how it came about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/trace/trace.h"

namespace sonde::capture::memory {

// Trace::format() of a snapshot.
bool is_snapshot(const trace::Trace& trace);

struct Allocation {
  uint64_t address = 0;
  int64_t bytes = 0;
  int64_t begin_ps = 0, end_ps = 0;      // end: freed, or the end of the history
  trace::StringId stack = trace::kNone;  // who allocated it; kNone: not recorded
  bool is_older = false;                 // was there when the history began
  bool is_alive = false;                 // was never freed
};

struct Point {
  int64_t time_ps = 0, allocated = 0, reserved = 0;
};

struct Block {
  uint64_t address = 0, segment = 0;
  int64_t bytes = 0, count = 1;
  trace::StringId state = 0;
  trace::StringId stack = trace::kNone;
  bool is_used = false;
};

struct Segment {
  uint64_t address = 0;
  int64_t bytes = 0, allocated = 0, stream = 0, largest_free = 0;
  trace::StringId kind = 0;
  bool is_expandable = false;
};

// Memory that the allocator took from the device, or gave back.
struct SegmentChange {
  int64_t time_ps = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  bool is_taken = false;
};

struct OutOfMemory {
  int64_t time_ps = 0, asked = 0, free = 0;
  trace::StringId stack = trace::kNone;
};

struct Device {
  std::string name;
  bool has_history = false;
  std::vector<Allocation> allocations;  // by begin
  std::vector<Point> curve;             // after each event that changed something
  std::vector<Block> blocks;
  std::vector<Segment> segments;
  std::vector<SegmentChange> segment_changes;  // by time
  std::vector<OutOfMemory> failures;
  int64_t begin_ps = 0, end_ps = 0;
  int64_t peak_bytes = 0, peak_ps = 0;
  int64_t allocated = 0, reserved = 0;  // when the snapshot was taken

  // Of the reserved memory that is free, how much no single block could serve: 0 when all of it is
  // one piece, nearly 1 when it is crumbs.
  double fragmentation() const;
};

// Where everything lay at a moment of the history.
struct Moment {
  struct Area {
    uint64_t address = 0;
    int64_t bytes = 0;
  };
  int64_t time_ps = 0;
  std::vector<Area> segments;                  // largest first
  std::vector<const Allocation*> allocations;  // by address
};
Moment moment_of(const Device& device, int64_t time_ps);

// Linear in the events; devices as the file has them.
std::vector<Device> devices_of(const trace::Trace& trace);

// The frame of a stack that names the place to look at: the innermost of the program's own, past
// the frameworks' files.
std::string_view site_of(std::string_view stack);

}  // namespace sonde::capture::memory
