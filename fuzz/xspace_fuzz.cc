// XSpace captures: any bytes are imported and every tool is run on what comes out.
#include "base/bytes.h"
#include "import/registry.h"
#include "profile/render.h"
#include "profile/tool.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sonde::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  auto trace = sonde::imports::import_trace({"fuzz.xplane.pb", bytes, nullptr});
  if (!trace) return 0;
  sonde::trace::Session loaded;
  loaded.hosts.push_back(
      {"host", "fuzz", size, std::make_shared<const sonde::trace::Trace>(std::move(*trace))});
  const sonde::profile::Session session(std::move(loaded));
  for (const sonde::profile::Tool* tool : sonde::profile::all_tools()) {
    (void)tool->missing(session);
    const auto report = sonde::profile::run_tool(*tool, session, {});
    if (report) (void)sonde::profile::to_neutral(*report, tool->id, "fuzz");
  }
  return 0;
}
