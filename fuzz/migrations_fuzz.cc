// One Summary.Value of arbitrary bytes: what it migrates to, alone and behind other metadata of its
// tag.
#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/event/metadata.h"
#include "log/event/value.h"
#include "log/load/record_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  if (size == 0) return 0;
  const Bytes message(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  event::ValueView value;
  if (!event::parse_value(message, value)) return 0;
  const event::Metadata metadata = event::metadata_of(value);
  if (metadata.from_v1 && metadata.data_class == event::DataClass::kUnknown) __builtin_trap();

  // The first byte picks what the tag was before.
  store::MetadataHints seeds;
  const char* plugins[] = {"", "scalars", "images", "audio", "histograms", "hparams", "unknown"};
  auto seed = std::make_shared<event::Metadata>();
  seed->plugin = plugins[data[0] % 7];
  seed->data_class = event::implied_class(seed->plugin);
  if (data[0] % 7) seeds.emplace(std::string(value.tag), seed);
  static const auto memory = std::make_shared<store::Memory>(uint64_t{1} << 30);
  store::RecordDecoder sink(store::FileId{0}, memory, seeds,
                            store::RecordDecoder::Use::kEverything);
  std::string payload;
  wire::Encoder encoder(payload);
  encoder.real(1, 1);
  encoder.varint(2, 5);
  encoder.message(5, [&](wire::Encoder& summary) { summary.bytes(1, as_text(message)); });
  if (!sink.add(as_bytes(payload), 12)) __builtin_trap();
  for (const store::Part& part : sink.parts()) {
    if (part.is_scalar && part.references.size() != 0) __builtin_trap();
    if (part.size() + part.strays.size() != 1) __builtin_trap();
  }
  return 0;
}
