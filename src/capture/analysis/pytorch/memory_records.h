// The allocations and releases a PyTorch capture recorded, each tied to the operator that ran, and
// allocations paired with their releases.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

struct MemoryRecord {
  int64_t time_ps = 0;
  int64_t bytes = 0;  // negative: released
  uint64_t address = 0;
  bool has_address = false;
  std::optional<int64_t> allocated, reserved;  // of the allocator, after this
  uint16_t device = 0;                         // in Memory::devices
  uint32_t node = kNone;                       // innermost operator, kNone outside of any
};

struct Lifetime {
  uint32_t allocation = kNone, release = kNone;  // records; one of them may be missing
};

struct Memory {
  std::vector<std::string> devices;   // "CPU", "GPU0" …, in order of first use
  std::vector<MemoryRecord> records;  // by time
  // Pairs in order of release, then what was never released, then releases of what was allocated
  // before the capture.
  std::vector<Lifetime> lifetimes;
};

struct Window {
  int64_t begin = INT64_MIN, end = INT64_MAX;
  bool holds(int64_t time) const { return time >= begin && time <= end; }
};

Memory memory_of(const Capture& capture, Window window = {});

// The operator a record belongs to, for people: aten::empty is named with who called it.
std::string operator_name(const Capture& capture, const MemoryRecord& record);

struct MemoryTotal {
  int64_t calls = 0;
  int64_t increase = 0, self_increase = 0;
  int64_t allocations = 0, self_allocations = 0;
  int64_t allocated = 0, self_allocated = 0;
};
// By device, then operator name; rows without any allocation or release are left out.
std::vector<std::map<std::string, MemoryTotal>> memory_totals(const Capture& capture,
                                                              const Memory& memory);

}  // namespace sonde::capture::pytorch
