// Exports of Nsight Systems: databases that a stranger wrote.
#include "fuzz/capture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::fuzz::run_all_tools("nsys.sqlite", {reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
