// A log of torch's DebugMode.
#include "numerics/torch_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde::numerics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto log = parse_torch_log(text);
  if (!log) return 0;
  (void)first_fault(*log);
  (void)healthy_sentence(*log);
  (void)first_difference(*log, *log, 0.001);
  return 0;
}
