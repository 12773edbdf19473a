// Perfetto traces: any bytes are imported, also behind a packet that makes the sniffer claim them.
#include "base/bytes.h"
#include "capture/import/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sonde::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  (void)sonde::imports::import_trace({"fuzz.pftrace", bytes, nullptr});
  std::string claimed("\x0a\x02\x50\x01", 4);
  claimed.append(reinterpret_cast<const char*>(data), size);
  (void)sonde::imports::import_trace({"fuzz.pftrace", sonde::as_bytes(claimed), nullptr});
  return 0;
}
