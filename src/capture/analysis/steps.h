// The step-time breakdown: which kind of work every moment of a step is spent on. Where several
// overlap, the kind with the highest priority (device work above waiting above host work) owns the
// moment, so the parts of a step always add up to the step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/grouping.h"
#include "capture/analysis/vocabulary.h"

namespace sonde::capture {

// In order of priority; higher wins.
enum class Work : uint8_t {
  kUnknown,
  kHostCompute,
  kHostCompile,
  kHostToHost,
  kHostToDevice,
  kLaunch,
  kCollective,
  kWaitInput,
  kDeviceToDevice,
  kDeviceToHost,
  kCompute32,
  kCompute16,
};
inline constexpr size_t kWorkCount = 12;

// What a page shows; the order is that of xprof's step table.
enum class Part : uint8_t {
  kDeviceCompute,
  kDeviceToDevice,
  kCollectives,
  kHostCompute,
  kLaunch,
  kInput,
  kOutput,
  kCompile,
  kOther,
};
inline constexpr size_t kPartCount = 9;
std::string_view part_name(Part part);

struct Step {
  int32_t group = 0;
  std::string name;
  int64_t begin = 0, end = 0;
  std::array<int64_t, kWorkCount> work{};      // ps inside the step, no overlap
  std::array<int64_t, kWorkCount> segments{};  // the same, not clipped to the step
  std::array<uint32_t, 3> copies{};            // host to device, device to host, device to device
  std::array<int64_t, 3> copy_ps{};
  std::array<uint64_t, 3> copy_bytes{};

  int64_t duration() const { return end - begin; }
  int64_t part(Part part) const;
};

struct Steps {
  std::vector<Step> steps;            // by group
  uint32_t dropped_without_work = 0;  // groups with a marker but nothing in them
};

Steps break_down_steps(const trace::Trace& trace, const Vocabulary& words,
                       const Grouping& grouping);

// Bytes of a copy from its memcpy_details, in any of the spellings of ten years of CUPTI; 0
// unknown.
uint64_t copy_bytes(std::string_view details);

}  // namespace sonde::capture
