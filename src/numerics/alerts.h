// What a recording shows beside its first fault, a line a tensor: NaN and infinities, spikes,
// explosions, dead units, vanishing gradients, values at the end of their type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/dump.h"

namespace sonde::numerics {

enum class AlertKind : uint8_t { kBad, kSpike, kExplosion, kDead, kVanishing, kSaturation };
std::string_view name_of(AlertKind kind);  // "bad", "spike" …

struct Alert {
  AlertKind kind = AlertKind::kBad;
  uint64_t row = 0;  // into Data::traces: where it was first so
  std::string text;  // "rms 120, 34 times the median before"
};

inline constexpr size_t kMostAlertsShown = 10'000;

// The first of each kind for each traced tensor, in order of the rows.
std::vector<Alert> alerts(const Data& data);

}  // namespace sonde::numerics
