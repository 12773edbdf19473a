// Memory snapshots: pickles of PyTorch, pprof profiles of JAX. Pickles are read as such too, since only those that
// look like a snapshot reach the importer.
#include "codec/pickle.h"
#include "fuzz/capture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sonde::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  (void)sonde::Pickle::read(bytes);
  sonde::fuzz::run_all_tools("fuzz.pickle", bytes);
  return 0;
}
