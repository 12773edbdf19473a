// The payload of one record: event, values, metadata, references, migrations; and whether the short
// cut past the protobuf walk keeps what the walk keeps.
#include <cstring>

#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/event/metadata.h"
#include "log/event/skim.h"
#include "log/event/value.h"
#include "log/load/record_decoder.h"

namespace {

using namespace sonde;

struct Filled {
  explicit Filled(const std::shared_ptr<store::Memory>& memory)
      : sink(store::FileId{0}, memory, seeds, store::RecordDecoder::Use::kEverything) {
    std::string version;  // in older files the short cut is not taken
    wire::Encoder encoder(version);
    encoder.real(1, 1);
    encoder.bytes(3, "brain.Event:2");
    if (!sink.add(as_bytes(version), 0)) __builtin_trap();
  }
  const store::MetadataHints seeds;
  store::RecordDecoder sink;
};

void check_same(const store::Part& a, const store::Part& b) {
  const bool same = a.tag == b.tag && a.is_scalar == b.is_scalar && a.numbers() == b.numbers() &&
                    a.references.size() == b.references.size() &&
                    a.strays.size() == b.strays.size() && a.chunks.size() == b.chunks.size() &&
                    a.unreadable == b.unreadable;
  if (!same) __builtin_trap();
  for (size_t i = 0; i < a.chunks.size(); ++i) {
    const store::Chunk &x = a.chunks[i], &y = b.chunks[i];
    if (x.size != y.size || x.type != y.type || x.capacity != y.capacity) __builtin_trap();
    const bool equal = std::memcmp(x.steps(), y.steps(), size_t{8} * x.size) == 0 &&
                       std::memcmp(x.wall_times(), y.wall_times(), size_t{8} * x.size) == 0 &&
                       std::memcmp(x.values(), y.values(), store::width_of(x.type) * x.size) == 0;
    if (!equal) __builtin_trap();
  }
}

// The payload and one like it but for a bit, in turns: through the short cut where it fits, and
// each by the walk.
void check_short_cut(Bytes payload) {
  static const auto memory = std::make_shared<store::Memory>(uint64_t{1} << 30);
  const size_t size = payload.size();
  std::vector<std::byte> window(2 * size + 64);  // 64 bytes behind it are readable
  std::copy(payload.begin(), payload.end(), window.begin());
  std::copy(payload.begin(), payload.end(), window.begin() + static_cast<ptrdiff_t>(size));
  if (size > 0) {
    const auto chosen = static_cast<size_t>(payload.back()) * 37 % size;
    window[size + chosen] ^= std::byte{1} << (size % 8);
  }
  const auto length = static_cast<uint32_t>(size);
  std::vector<record::Frame> frames;
  for (int i = 0; i < 20; ++i) frames.push_back({i % 3 == 2 ? length : 0, length});
  const Bytes records = Bytes(window).first(2 * size);

  Filled quick(memory), walked(memory);
  uint64_t bad = 0;
  quick.sink.add_all(records, 0, frames, [&](const record::Frame&) { ++bad; });
  for (const record::Frame& frame : frames)
    bad -= !walked.sink.add(records.subspan(frame.at, frame.length), frame.at);
  if (bad != 0 || quick.sink.points() != walked.sink.points()) __builtin_trap();
  const store::FileFacts &a = quick.sink.facts(), &b = walked.sink.facts();
  if (a.records != b.records || a.events != b.events) __builtin_trap();
  if (a.last_summary_step != b.last_summary_step) __builtin_trap();
  if (a.min_wall_time != b.min_wall_time || a.max_wall_time != b.max_wall_time) __builtin_trap();
  if (quick.sink.part_count() != walked.sink.part_count()) __builtin_trap();
  for (size_t i = 0; i < quick.sink.part_count(); ++i)
    check_same(quick.sink.parts()[i], walked.sink.parts()[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
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
  check_short_cut(payload);
  // The skimmer reads the same bytes through small windows.
  const auto outline = event::skim(size, [&](uint64_t offset, size_t n) -> Result<Bytes> {
    if (offset + n > size) __builtin_trap();  // it must never ask for what is not there
    return payload.subspan(static_cast<size_t>(offset), n);
  });
  if (outline && event && outline->what == event->what && outline->step != event->step)
    __builtin_trap();
  return 0;
}
