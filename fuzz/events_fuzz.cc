// The payload of one record: event, values, metadata, references, migrations.
#include "event/blob.h"
#include "event/metadata.h"
#include "event/skim.h"
#include "event/value.h"
#include "store/sink.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  const Bytes payload(reinterpret_cast<const std::byte*>(data), size);
  const auto event = event::parse_event(payload);
  for (uint32_t index = 0; index < 4; ++index) {
    const auto value = event::find_value(payload, index);
    if (!value) continue;
    const event::Metadata metadata = event::metadata_of(*value);
    for (const char* plugin : {"images", "audio", "graphs"})
      (void)event::blob_sequence(*value, plugin).has_value();
    (void)event::histogram(*value).has_value();
    (void)event::text(*value).has_value();
    (void)event::audio_info(*value);
  }
  static const auto memory = std::make_shared<store::Memory>(uint64_t{1} << 30);
  const store::Seeds seeds;
  store::Sink sink(store::FileId{0}, memory, seeds, store::Sink::Use::kEverything);
  sink.assume_version(2);
  // Twice in one window: the second time may go through the short cut. 64 bytes are readable
  // behind.
  std::vector<std::byte> window(2 * size + 64);
  std::copy(payload.begin(), payload.end(), window.begin());
  std::copy(payload.begin(), payload.end(), window.begin() + static_cast<ptrdiff_t>(size));
  const auto length = static_cast<uint32_t>(size);
  const record::Frame frames[] = {{0, length}, {length, length}, {0, length}, {length, length}};
  uint64_t bad = 0;
  sink.add_all(Bytes(window).first(2 * size), 0, frames, [&](const record::Frame&) { ++bad; });
  if (bad != 0 && bad != 4) __builtin_trap();
  if (bad != 0 && sink.points() != 0) __builtin_trap();
  if (sink.points() % 4 != 0) __builtin_trap();
  // The skimmer reads the same bytes through small windows.
  const auto outline = event::skim(size, [&](uint64_t offset, size_t n) -> Result<Bytes> {
    if (offset + n > size) __builtin_trap();  // it must never ask for what is not there
    return payload.subspan(static_cast<size_t>(offset), n);
  });
  if (outline && event && outline->what == event->what && outline->step != event->step)
    __builtin_trap();
  return 0;
}
