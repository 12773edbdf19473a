// The units that numbers travel in. Steps and wall times stay exactly as the files hold them.
#pragma once

#include <compare>
#include <cstdint>

namespace sonde {

using Step = int64_t;

// Times on a trace are whole picoseconds since that trace's own start: int64 then lasts 106 days,
// while a Unix time in ps would overflow. The start itself is kept once per trace, in nanoseconds.
// A strong type, because ns, us and ps all occur in the inputs and a mix-up looks plausible.
struct Picos {
  int64_t value = 0;
  friend constexpr auto operator<=>(Picos, Picos) = default;
  friend constexpr Picos operator+(Picos a, Picos b) { return {a.value + b.value}; }
  friend constexpr Picos operator-(Picos a, Picos b) { return {a.value - b.value}; }
};

constexpr Picos from_nanos(int64_t ns) { return {ns * 1000}; }
constexpr double to_micros(Picos t) { return static_cast<double>(t.value) * 1e-6; }

}  // namespace sonde
