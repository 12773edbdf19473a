#include "capture/analysis/ops/occupancy.h"

#include <doctest/doctest.h>

namespace sonde::capture {
namespace {

LaunchShape launch(uint32_t threads, uint32_t registers, uint32_t shared) {
  LaunchShape shape;
  shape.block[0] = threads;
  shape.registers = registers;
  shape.dynamic_shared = shared;
  shape.has_registers = true;
  return shape;
}

// Figures of NVIDIA's occupancy calculator.
TEST_CASE("theoretical_occupancy: what limits a kernel") {
  const auto full = theoretical_occupancy(launch(256, 32, 0), 8, 0);
  REQUIRE(full);
  CHECK(full->percent == 100);
  CHECK(full->limiter.empty());
  const auto registers = theoretical_occupancy(launch(256, 64, 0), 8, 0);
  REQUIRE(registers);
  CHECK(registers->percent == 50);
  CHECK(registers->limiter == "registers");
  const auto shared = theoretical_occupancy(launch(128, 32, 48 << 10), 8, 0);
  REQUIRE(shared);
  CHECK(shared->limiter == "shared memory");
  CHECK(shared->percent == doctest::Approx(18.75));  // 3 blocks of 4 warps
  const auto tiny = theoretical_occupancy(launch(32, 16, 0), 7, 5);
  REQUIRE(tiny);
  CHECK(tiny->percent == 50);  // 16 blocks of one warp
  CHECK(tiny->limiter == "blocks");
  const auto wide = theoretical_occupancy(launch(1024, 32, 0), 8, 6);
  REQUIRE(wide);
  CHECK(wide->limiter == "block size");
  CHECK(wide->percent == doctest::Approx(100.0 * 32 / 48));
}

TEST_CASE("theoretical_occupancy: nothing is made up") {
  CHECK_FALSE(theoretical_occupancy(launch(256, 32, 0), 4, 2));
  CHECK_FALSE(theoretical_occupancy(launch(5000, 32, 0), 8, 0));
  CHECK_FALSE(theoretical_occupancy(launch(0, 32, 0), 8, 0));
  CHECK_FALSE(theoretical_occupancy(launch(1024, 255, 0), 8, 0));  // cannot be launched
  LaunchShape unknown = launch(256, 32, 0);
  unknown.has_registers = false;
  CHECK_FALSE(theoretical_occupancy(unknown, 8, 0));
}

}  // namespace
}  // namespace sonde::capture
