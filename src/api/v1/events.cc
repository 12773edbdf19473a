// GET events: the stream of changes, and how a client that was away catches up.
#include <charconv>

#include "api/services/hub.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "sonde/version.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kMemory = 4096;  // revisions a client may be behind

// "<boot>.<rev>" of this boot and not too old.
std::optional<uint64_t> resumed_at(const Context& context, const Request& request, uint64_t now) {
  std::string_view id = request.header("last-event-id");
  if (id.empty()) id = request.param("after").value_or("");
  const size_t dot = id.rfind('.');
  if (dot == id.npos || id.substr(0, dot) != context.settings.boot) return std::nullopt;
  uint64_t revision = 0;
  const auto [end, error] = std::from_chars(id.data() + dot + 1, id.data() + id.size(), revision);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  if (revision > now || now - revision > kMemory) return std::nullopt;
  return revision;
}

// Everything that changed after a revision, from the revisions that runs and series carry.
Pending difference(State& state, const store::Snapshot& snapshot, uint64_t since) {
  Pending pending;
  pending.revision = snapshot.revision;
  for (const uint32_t run : state.removed(snapshot, since)) pending.removed.insert(run);
  for (const auto& run : snapshot.runs) {
    if (run->revision <= since) continue;
    for (const auto& series : run->series) {
      if (series->revision() <= since || pending.all) continue;
      Step last = 0;
      const uint64_t size = series->size();
      if (size > 0 && series->is_scalar()) {
        series->blocks({size - 1, size}, [&](const auto& block) { last = block.steps.back(); });
      } else if (size > 0) {
        for (const auto& point : series->points({size - 1, size})) last = point.step;
      }
      pending.add_series(static_cast<uint32_t>(run->id),
                         state.tag_id(series->tag(), kind_of(*series)), {size, last});
    }
  }
  return pending;
}

Answer events(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  State& state = context.services.state();
  const std::string& boot = context.settings.boot;
  const std::string id = boot + "." + std::to_string(snapshot->revision);
  const bool resumes =
      !request.header("last-event-id").empty() || request.param("after").has_value();
  const auto since = resumed_at(context, request, snapshot->revision);

  std::string data;
  JsonWriter json(data);
  json.object([&] {
    json.key("boot").string(boot);
    json.key("rev").number(snapshot->revision);
    json.key("version").string(SONDE_VERSION);
    json.key("loading").boolean(snapshot->progress.loading);
  });
  std::string first = "retry: 1000\n" + event_text("hello", data, id);
  if (resumes && !since) first += event_text("reset", data, id);
  const uint64_t from = since.value_or(snapshot->revision);

  Answer answer;
  answer.content_type = "text/event-stream";
  answer.cache = Cache::kNoStore;
  answer.headers.emplace_back("X-Accel-Buffering", "no");  // proxies must not collect events
  auto stream = std::make_shared<EventStream>();
  stream->open = [context, &state, first, from](EventStream::Sink sink) {
    return state.hub().join(context, state, std::move(sink), first,
                            [&] { return difference(state, *context.store.snapshot(), from); });
  };
  answer.body = std::move(stream);
  return answer;
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/events", events}};

}  // namespace

std::span<const Route> event_routes() { return kRoutes; }

}  // namespace sonde::api::v1
