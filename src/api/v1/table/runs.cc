// GET info, runs, tags; POST reload: what there is, before any data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "log/event/tensor.h"
#include "log/event/value.h"
#include "log/query/media/sequences.h"
#include "log/query/series/columns.h"
#include "sonde/version.h"
#include "text/markdown.h"

namespace sonde::api::v1 {
namespace {

constexpr double kLiveSeconds = 60;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Answer info(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  const SidecarFile& sidecar = context.services.state().sidecar();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("version").string(SONDE_VERSION);
    json.key("api").number(1);
    json.key("boot").string(context.settings.boot);
    json.key("rev").number(snapshot->revision);
    json.key("logdir").string(context.settings.logdir);
    json.key("title").string(context.settings.window_title);
    json.key("sidecar").object([&] {
      json.key("path").string(sidecar.path());
      json.key("writable").boolean(sidecar.is_writable());
    });
    json.key("limits").object([&] {
      json.key("cells").number(static_cast<uint64_t>(query::kMaxCells));
      json.key("body_bytes").number(kMaxBodyBytes);
      json.key("upload_bytes").number(kMaxUploadBytes);
    });
    write_partial(json, snapshot->progress);
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

void write_time(JsonWriter& json, double seconds) {
  if (std::isnan(seconds)) return json.null();
  json.number(seconds);
}

void write_run(JsonWriter& json, const store::RunSnapshot& run, int64_t slot, double now) {
  json.object([&] {
    json.key("id").number(static_cast<uint32_t>(run.id));
    json.key("name").string(run.name);
    json.key("start");
    write_time(json, run.first_wall_time);
    json.key("last");
    write_time(json, run.last_wall_time);
    json.key("state").string(now - run.last_wall_time < kLiveSeconds ? "live" : "idle");
    json.key("points").number(run.points);
    json.key("bytes").number(run.bytes);
    json.key("segments").number(run.segments);
    json.key("damage").number(static_cast<uint64_t>(run.damage.size()));
    json.key("slot").number(slot);
    json.key("kinds").array([&] {
      std::vector<std::string_view> kinds;
      for (const auto& series : run.series) {
        const std::string_view kind = kind_of(*series);
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
      }
      std::sort(kinds.begin(), kinds.end());
      for (const std::string_view kind : kinds) json.string(kind);
    });
    json.key("rev").number(run.revision);
  });
}

Answer runs(const Context& context, const Request& request) {
  SONDE_ANSWER(const since, integer_param(request, "since", -1));
  const auto snapshot = context.store.snapshot();
  State& state = context.services.state();
  const std::vector<int64_t> slots = state.slots(*snapshot);
  const double now = seconds_now();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("boot").string(context.settings.boot);
    json.key("rev").number(snapshot->revision);
    json.key("runs").array([&] {
      for (size_t i = 0; i < snapshot->runs.size(); ++i) {
        const store::RunSnapshot& run = *snapshot->runs[i];
        if (since >= 0 && run.revision <= static_cast<uint64_t>(since)) continue;
        write_run(json, run, slots[i], now);
      }
    });
    const auto gone =
        state.removed(*snapshot, since < 0 ? UINT64_MAX : static_cast<uint64_t>(since));
    json.key("removed").array([&] {
      for (const uint32_t id : gone) json.number(id);
    });
    write_partial(json, snapshot->progress);
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

void write_intervals(JsonWriter& json, const std::vector<uint32_t>& ids) {
  json.array([&] {
    for (size_t i = 0; i < ids.size();) {
      size_t end = i + 1;
      while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
      json.array([&] {
        json.number(ids[i]);
        json.number(ids[end - 1]);
      });
      i = end;
    }
  });
}

// How many pictures, clips or meshes the newest step holds; 0 for kinds without samples. Looked up
// once per tag and number of its runs.
uint32_t samples_of(const Context& context, const TagRow& tag) {
  const bool media = tag.kind == "image" || tag.kind == "audio";
  if ((!media && tag.kind != "mesh") || !tag.newest) return 0;
  return *context.services.memo().get<uint32_t>(
      fmt::format("v1/samples/{}", tag.id), tag.runs.size(), [&](const uint32_t* earlier) {
        const auto points = points_of(*tag.newest, store::View::kNewest);
        if (points.empty()) return earlier ? *earlier : 0u;
        const store::Reference& where = points.back().where;
        uint32_t found = 0;
        if (media) {
          const auto length = query::sequence_length(context.store.blobs(), where, tag.plugin);
          found = length.value_or(0);
          if (tag.kind == "image") found = found > 2 ? found - 2 : 0;
        } else if (const auto payload = context.store.blobs().event(where)) {
          const auto value = event::find_value(as_bytes(*payload), where.value);
          const auto tensor = value ? event::parse_tensor(value->body) : fail(value.error());
          if (tensor && !tensor->dims.empty() && tensor->dims[0] > 0)
            found = static_cast<uint32_t>(std::min<int64_t>(tensor->dims[0], 1 << 20));
        }
        return std::max(found, earlier ? *earlier : 0u);
      });
}

void write_tag(JsonWriter& json, const Context& context, const TagRow& tag) {
  json.object([&] {
    json.key("id").number(tag.id);
    json.key("name").string(tag.name);
    json.key("kind").string(tag.kind);
    json.key("plugin").string(tag.plugin);
    json.key("title").string(tag.title);
    json.key("runs");
    write_intervals(json, tag.runs);
    json.key("points").number(tag.points);
    json.key("steps");
    if (tag.has_steps) {
      json.array([&] {
        json.safe_integer(tag.min_step);
        json.safe_integer(tag.max_step);
      });
    } else {
      json.null();
    }
    json.key("samples").number(samples_of(context, tag));
    json.key("description_html")
        .string(tag.description.empty() ? "" : text::markdown_to_safe_html(tag.description));
    json.key("rev").number(tag.revision);
  });
}

Answer tags(const Context& context, const Request& request) {
  SONDE_ANSWER(const since, integer_param(request, "since", -1));
  const auto snapshot = context.store.snapshot();
  const auto rows = context.services.state().tags(*snapshot);
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("boot").string(context.settings.boot);
    json.key("rev").number(snapshot->revision);
    json.key("tags").array([&] {
      for (const TagRow& tag : *rows) {
        if (since < 0 || tag.revision > static_cast<uint64_t>(since)) write_tag(json, context, tag);
      }
    });
    write_partial(json, snapshot->progress);
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

Answer reload(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  context.store.reload();
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("rev").number(context.store.snapshot()->revision); });
  Answer answer = Answer::json(std::move(body));
  answer.cache = Cache::kNoStore;
  return answer;
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/info", info},
                             {"GET", "/api/v1/runs", runs},
                             {"GET", "/api/v1/tags", tags},
                             {"POST", "/api/v1/reload", reload}};

}  // namespace

std::span<const Route> run_routes() { return kRoutes; }

}  // namespace sonde::api::v1
