// A TensorProto of arbitrary bytes in every decoder. Counts that are claimed must not cost memory.
#include "log/event/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  const auto tensor = event::parse_tensor({reinterpret_cast<const std::byte*>(data), size});
  if (!tensor) return 0;
  constexpr uint64_t kLimit = 1 << 16;
  const auto doubles = event::decode_doubles(*tensor, kLimit);
  const auto floats = event::decode_floats(*tensor, kLimit);
  const auto integers = event::decode_integers(*tensor, kLimit);
  const auto strings = event::decode_strings(*tensor, kLimit);
  const auto scalar = event::decode_scalar(*tensor);
  if (doubles && doubles->size() > kLimit) __builtin_trap();
  if (doubles && floats && doubles->size() != floats->size()) __builtin_trap();
  if (scalar && doubles && doubles->size() != 1) __builtin_trap();
  if (strings && doubles) __builtin_trap();
  (void)integers;
  return 0;
}
