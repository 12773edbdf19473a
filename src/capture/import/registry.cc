#include "capture/import/registry.h"

#include <fmt/format.h>

namespace sonde::imports {

extern const Importer kChromeJson;
extern const Importer kNsys;
extern const Importer kPerfetto;
extern const Importer kPprof;
extern const Importer kRunMetadataEvents;
extern const Importer kStepStats;
extern const Importer kTorchSnapshot;
extern const Importer kXplane;

namespace {
// Order = priority: formats with a signature first, JSON of any kind last.
constexpr const Importer* kImporters[] = {&kNsys,     &kTorchSnapshot, &kPprof,
                                          &kXplane,   &kStepStats,     &kRunMetadataEvents,
                                          &kPerfetto, &kChromeJson};
constexpr size_t kHeadBytes = 1 << 16;
}  // namespace

std::span<const Importer* const> importers() { return kImporters; }

const Importer* importer_for(std::string_view name, Bytes head) {
  for (const Importer* importer : kImporters) {
    if (importer->sniff(name, head)) return importer;
  }
  return nullptr;
}

Result<trace::Trace> import_trace(const Input& input) {
  const Bytes head = input.bytes.first(std::min(input.bytes.size(), kHeadBytes));
  const Importer* importer = importer_for(input.name, head);
  if (!importer) {
    return fail(Code::kUnsupported,
                fmt::format("{}: not a capture of a known format ({} bytes, no importer claims it)",
                            input.name, input.bytes.size()));
  }
  trace::Builder builder(importer->id);
  if (auto read = importer->read(input, builder); !read)
    return fail(std::move(read.error()).in(input.name));
  if (input.bytes_done) input.bytes_done();
  return std::move(builder).finish();
}

}  // namespace sonde::imports
