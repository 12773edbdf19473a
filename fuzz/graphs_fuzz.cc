// GraphDef, RunMetadata, Keras models and protobuf text of strangers.
#include <cstdint>
#include <string_view>

#include "codec/text_proto.h"
#include "embed/files/projector.h"
#include "graph/graph_def.h"
#include "graph/keras.h"
#include "graph/pbtxt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Bytes bytes = as_bytes(text);
  (void)graph::to_pbtxt(bytes, graph::kGraphDef);
  (void)graph::to_pbtxt(bytes, graph::kRunMetadata);
  (void)graph::graph_of_run_metadata(bytes);
  (void)graph::without_large_attributes(bytes, 8, "_too_large_attrs");
  (void)graph::keras_to_graph(text);
  (void)parse_text_proto(text);
  (void)embed::projector::parse_tsv(text);
  return 0;
}
