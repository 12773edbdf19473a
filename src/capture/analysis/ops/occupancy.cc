#include "capture/analysis/ops/occupancy.h"

#include <algorithm>

namespace sonde::capture {
namespace {

// What one multiprocessor holds, by compute capability.
struct Limits {
  int64_t major, minor;
  int64_t warps, blocks, shared_bytes;
  int64_t shared_unit, shared_reserved;  // a block's share is rounded up; the driver keeps some
};
constexpr Limits kLimits[] = {
    {5, 0, 64, 32, 64 << 10, 256, 0},        {5, 2, 64, 32, 96 << 10, 256, 0},
    {6, 0, 64, 32, 64 << 10, 256, 0},        {6, 1, 64, 32, 96 << 10, 256, 0},
    {7, 0, 64, 32, 96 << 10, 256, 0},        {7, 5, 32, 16, 64 << 10, 256, 0},
    {8, 0, 64, 32, 164 << 10, 128, 1 << 10}, {8, 6, 48, 16, 100 << 10, 128, 1 << 10},
    {8, 7, 48, 16, 164 << 10, 128, 1 << 10}, {8, 9, 48, 24, 100 << 10, 128, 1 << 10},
    {9, 0, 64, 32, 228 << 10, 128, 1 << 10}, {10, 0, 64, 32, 228 << 10, 128, 1 << 10},
    {12, 0, 48, 24, 100 << 10, 128, 1 << 10}};
constexpr int64_t kRegisters = 65536, kRegisterUnit = 256, kWarp = 32, kWarpUnit = 4;

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::optional<Occupancy> theoretical_occupancy(const LaunchShape& launch, int64_t major,
                                               int64_t minor) {
  const auto limits = std::find_if(std::begin(kLimits), std::end(kLimits), [&](const Limits& l) {
    return l.major == major && l.minor == minor;
  });
  int64_t threads = 1;
  for (const uint32_t d : launch.block) threads *= std::clamp<int64_t>(d, 0, 4096);
  if (limits == std::end(kLimits) || !launch.has_registers || threads < 1 || threads > 1024)
    return std::nullopt;
  const int64_t warps = (threads + kWarp - 1) / kWarp;
  struct Bound {
    int64_t blocks;
    std::string_view name;
  };
  Bound best{limits->blocks, "blocks"};
  const auto narrow = [&](int64_t blocks, std::string_view name) {
    if (blocks < best.blocks) best = {blocks, name};
  };
  narrow(limits->warps / warps, "block size");
  if (launch.registers > 0) {
    const int64_t per_warp = rounded_up(int64_t{launch.registers} * kWarp, kRegisterUnit);
    narrow(kRegisters / per_warp / kWarpUnit * kWarpUnit / warps, "registers");
  }
  const int64_t shared = int64_t{launch.static_shared} + launch.dynamic_shared;
  if (shared > 0)
    narrow(limits->shared_bytes / rounded_up(shared + limits->shared_reserved, limits->shared_unit),
           "shared memory");
  if (best.blocks < 1) return std::nullopt;  // such a launch fails: the record is wrong
  const int64_t resident = std::min(limits->warps, best.blocks * warps);
  return Occupancy{100.0 * static_cast<double>(resident) / static_cast<double>(limits->warps),
                   resident == limits->warps ? std::string_view() : best.name};
}

}  // namespace sonde::capture
