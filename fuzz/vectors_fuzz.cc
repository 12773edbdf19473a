// Vectors and metadata of strangers: .npy, text, raw floats, TSV of labels.
#include <cstdint>
#include <string_view>

#include "embed/files/labels.h"
#include "embed/files/vectors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)embed::parse_npy(text);
  (void)embed::parse_npy(text, 3);
  (void)embed::parse_vectors(text, 0);
  (void)embed::parse_vectors(text, 3);
  (void)embed::parse_labels(text, 5);
  return 0;
}
