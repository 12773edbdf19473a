// profile/capture: start a capture of running programs, look how far it is, cancel it; and ask a
// PyTorch program that watches its run folder to record some steps.
#include <fmt/format.h>

#include <charconv>

#include "api/services/recordings.h"
#include "api/services/watched_runs.h"
#include "api/v1/area.h"
#include "api/v1/support.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kPrefix = "/api/v1/profile/capture/";

void write_recording(JsonWriter& json, const Recording& recording) {
  json.object([&] {
    json.key("capture").number(recording.id);
    json.key("state").string(name_of(recording.state));
    json.key("session").string(recording.session);
    json.key("attempt").number(recording.progress.attempt);
    json.key("attempts").number(recording.progress.attempts);
    json.key("elapsed_ms").number(recording.elapsed_ms);
    json.key("expected_ms").number(recording.expected_ms);
    json.key("hosts").array([&] {
      for (const remote::HostProgress& host : recording.progress.hosts) {
        json.object([&] {
          json.key("host").string(host.host);
          json.key("phase").string(remote::name_of(host.phase));
          json.key("bytes").number(host.bytes);
          if (!host.error.empty()) json.key("error").string(host.error);
        });
      }
    });
    if (!recording.error.empty()) json.key("error").string(recording.error);
  });
}

Answer fresh(std::string body, int status = 200) {
  Answer answer = Answer::json(std::move(body));
  answer.status = status;
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer recording_answer(const Recording& recording, int status = 200) {
  std::string body;
  JsonWriter json(body);
  write_recording(json, recording);
  return fresh(std::move(body), status);
}

Answer list(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("allowed").boolean(context.settings.no_capture.empty());
    json.key("reason").string(context.settings.no_capture);
    json.key("roots").array([&] {
      for (const auto& root : context.store.options().roots) json.string(root.name);
    });
    json.key("captures").array([&] {
      for (const Recording& recording : context.services.recordings().list())
        write_recording(json, recording);
    });
    json.key("watched").array([&] {
      for (const WatchedRun& run : watched_runs(context)) write_watched(json, run);
    });
  });
  return fresh(std::move(body));
}

Result<remote::Options> options_in(const JsonValue& body) {
  remote::Options o;
  const std::pair<std::string_view, int64_t*> numbers[] = {
      {"duration_ms", &o.duration_ms},
      {"delay_ms", &o.delay_ms},
      {"retries", &o.retries},
      {"host_tracer_level", &o.host_tracer_level},
      {"device_tracer_level", &o.device_tracer_level},
      {"python_tracer_level", &o.python_tracer_level},
      {"timeout_ms", &o.timeout_ms},
  };
  for (const auto& [name, value] : numbers) {
    SONDE_TRY(number, integer_in(body, name, *value));
    *value = number;
  }
  if (const JsonValue* extra = body.find("options")) {
    for (const auto& [name, value] : extra->members) {
      if (!value.is_string())
        return fail(Code::kInvalid, fmt::format("'options.{}' must be text", name));
      o.extra.emplace_back(name, value.text);
    }
  }
  if (auto good = remote::check(o); !good) return fail(std::move(good).error());
  return o;
}

Answer start(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const service, text_in(body, "service"));
  SONDE_ANSWER(const workers, text_in(body, "worker_list"));
  SONDE_ANSWER(const root, text_in(body, "root"));
  remote::Plan plan;
  SONDE_ANSWER(services, remote::addresses_of(service));
  plan.services = std::move(services);
  if (!workers.empty()) {
    SONDE_ANSWER(list, remote::addresses_of(workers));
    plan.workers = std::move(list);
  }
  SONDE_ANSWER(options, options_in(body));
  plan.options = std::move(options);
  SONDE_ANSWER(const recording,
               context.services.recordings().start(context, std::move(plan), root));
  return recording_answer(recording, 202);
}

Result<uint64_t> id_of(const Request& request) {
  const std::string_view text = std::string_view(request.path).substr(kPrefix.size());
  uint64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || end != text.data() + text.size())
    return fail(Code::kNotFound,
                "a capture is named by its number; GET profile/capture lists them");
  return id;
}

Answer look(const Context& context, const Request& request) {
  SONDE_ANSWER(const id, id_of(request));
  SONDE_ANSWER(const recording, context.services.recordings().look(id));
  return recording_answer(recording);
}

Answer cancel(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const id, id_of(request));
  SONDE_ANSWER(const recording, context.services.recordings().cancel(id));
  return recording_answer(recording);
}

Answer ask(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const run, text_in(body, "run"));
  SONDE_ANSWER(const steps, integer_in(body, "steps", 5));
  SONDE_ANSWER(const watched, ask_run(context, run, steps));
  std::string text;
  JsonWriter json(text);
  write_watched(json, watched);
  return fresh(std::move(text), 202);
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/profile/capture", list},        {"POST", "/api/v1/profile/capture", start},
    {"POST", "/api/v1/profile/request", ask},        {"GET", "/api/v1/profile/capture/*", look},
    {"DELETE", "/api/v1/profile/capture/*", cancel},
};

}  // namespace

std::span<const Route> capture_routes() { return kRoutes; }

}  // namespace sonde::api::v1
