// Run metadata of TensorFlow, as a message and inside an event file: any bytes are decoded with
// every choice of lanes and op times, imported, and every tool is run on what comes out.
#include "base/bytes.h"
#include "base/crc32c.h"
#include "capture/import/step_stats/fill.h"
#include "codec/wire.h"
#include "fuzz/capture.h"

namespace {

using namespace sonde;

// The bytes as tagged run metadata in a record with good checksums.
std::string event_file(Bytes bytes) {
  std::string event, record;
  wire::Encoder(event).message(8, [&](wire::Encoder& tagged) {
    tagged.bytes(1, "step");
    tagged.bytes(2, as_text(bytes));
  });
  const uint64_t length = event.size();
  record.append(reinterpret_cast<const char*>(&length), 8);
  const uint32_t header = masked_crc32c(as_bytes(record));
  record.append(reinterpret_cast<const char*>(&header), 4);
  record += event;
  const uint32_t crc = masked_crc32c(as_bytes(event));
  record.append(reinterpret_cast<const char*>(&crc), 4);
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  fuzz::run_all_tools("fuzz.pb", bytes);
  fuzz::run_all_tools("events.out.tfevents.1.fuzz", as_bytes(event_file(bytes)));
  for (const imports::OpTime op_time : {imports::OpTime::kGpu, imports::OpTime::kAll}) {
    imports::StepStatsRun run{"fuzz", 1, imports::decode_step_stats(bytes)};
    imports::apply_op_time(run.stats, op_time);
    for (const imports::Lanes lanes : {imports::Lanes::kPacked, imports::Lanes::kTensorFlow}) {
      trace::Builder builder("step_stats");
      imports::fill_trace({&run, 1}, {lanes, true, true, false}, builder);
      (void)std::move(builder).finish();
    }
  }
  return 0;
}
