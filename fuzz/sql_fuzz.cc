// Queries of a stranger over a small trace: whatever comes, it is answered or refused, soon, and
// nothing is written.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "capture/report/render.h"
#include "capture/sql/sql.h"
#include "capture/trace/builder.h"

namespace {

using namespace sonde;

capture::Session small_session() {
  trace::Builder builder("test");
  const auto process = builder.process("python", 1);
  const auto thread = builder.track(trace::TrackKind::kThread, process, "main", 2);
  const auto counter = builder.track(trace::TrackKind::kCounter, process, "memory", 3);
  for (int i = 0; i < 20; ++i) {
    builder.slice(thread, {i * 100}, {80}, builder.label(i % 3 ? "step" : "load", "op"));
    builder.arg("n", int64_t{i});
    const auto inner = builder.slice(thread, {i * 100 + 10}, {30}, builder.label("inner"));
    builder.arg("shape", "[2,3]");
    builder.flow(inner, inner, "self");
    builder.point(counter, {i * 100}, i * 0.5);
  }
  trace::Session loaded;
  loaded.hosts.push_back(
      {"host", "fuzz", 0, std::make_shared<const trace::Trace>(std::move(builder).finish())});
  return capture::Session(std::move(loaded));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const capture::Session session = small_session();
  int looks = 0;
  capture::sql::Limits limits;
  limits.rows = 100;
  limits.bytes = 1 << 20;
  limits.stop = [&] { return ++looks > 50 ? std::string("enough") : std::string(); };
  const auto answer = capture::sql::run(*session.analysis().hosts[0],
                                        {reinterpret_cast<const char*>(data), size}, limits);
  if (answer) (void)capture::to_csv(answer->table);
  return 0;
}
