// Files of examples in any format, told by their content: CSV, JSON, TFRecord, NPZ, Parquet; bare
// Examples; answers of models. What is read is used: statistics, distances, slices, and written
// again.
#include "base/bytes.h"
#include "whatif/distance.h"
#include "whatif/files/csv.h"
#include "whatif/files/examples.h"
#include "whatif/files/read.h"
#include "whatif/model/serving_grpc.h"
#include "whatif/slices.h"
#include "whatif/statistics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  using namespace sonde::whatif;
  const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  ReadOptions options;
  options.max_examples = 1000;
  DatasetBuilder one;
  for (const Message kind : {Message::kExample, Message::kSequenceExample})
    (void)add_example(bytes, kind, one);
  (void)std::move(one).finish("");
  for (const std::string_view method : {"predict", "classify", "regress"}) {
    const auto scores = read_serving(method, "", bytes, 2);
    if (scores && scores->scores.size() != 2 * scores->width) __builtin_trap();
  }
  for (const char* protocol : {"tfserving", "kserve"}) {
    ModelConfig model;
    model.protocol = protocol;
    (void)read_scores(model, as_text(bytes), 2);
  }
  const auto read = read_bytes(bytes, "fuzz", options);
  if (!read || read->rows == 0) return 0;
  for (const Column& column : read->columns)
    if (column.rows() != read->rows) __builtin_trap();
  (void)statistics_of(*read);
  (void)distances_to(*read, distance_model(*read, {}), 0, Metric::kL2);
  if (!read->columns.empty()) (void)slice_by(*read, {{read->columns[0].name}});
  (void)write_csv(*read);
  (void)write_records(*read);
  return 0;
}
