#include "api/tensorboard/capture_profile.h"

#include <fmt/format.h>

#include <charconv>

#include "api/services/recordings.h"
#include "api/tensorboard/shared.h"
#include "base/strings.h"
#include "codec/json.h"

namespace sonde::api::tensorboard {
namespace {

Answer said(int status, std::string_view key, std::string_view text) {
  Answer answer;
  answer.status = status;
  answer.cache = Cache::kNoStore;
  JsonWriter json(answer.text());
  json.object([&] { json.key(key).string(text); });
  return answer;
}

Result<int64_t> number(const Request& request, std::string_view name, int64_t otherwise) {
  const auto text = request.param(name);
  if (!text || text->empty()) return otherwise;
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (problem != std::errc() || end != text->data() + text->size())
    return fail(Code::kInvalid,
                fmt::format("the parameter {} is no number: '{}'", name, to_utf8(*text)));
  return value;
}

Result<remote::Plan> plan_of(const Request& request) {
  if (request.param("is_tpu_name") == "true") {
    return fail(Code::kUnsupported,
                "TPU names are not looked up; give the address of the profiler server, host:port");
  }
  remote::Plan plan;
  SONDE_TRY(services, remote::addresses_of(request.param("service_addr").value_or("")));
  plan.services = std::move(services);
  if (const auto workers = request.param("worker_list"); workers && !trimmed(*workers).empty()) {
    SONDE_TRY(list, remote::addresses_of(*workers));
    plan.workers = std::move(list);
  }
  remote::Options& o = plan.options;
  o.retries = 0;
  const std::pair<std::string_view, int64_t*> numbers[] = {
      {"duration", &o.duration_ms},
      {"delay", &o.delay_ms},
      {"num_retry", &o.retries},
      {"host_tracer_level", &o.host_tracer_level},
      {"device_tracer_level", &o.device_tracer_level},
      {"python_tracer_level", &o.python_tracer_level},
  };
  for (const auto& [name, value] : numbers) {
    SONDE_TRY(given, number(request, name, *value));
    *value = given;
  }
  return plan;
}

}  // namespace

Answer capture_profile(const Context& context, const Request& request) {
  if (is_from_elsewhere(request))
    return said(403, "error", "captures are not started by other web sites");
  if (request.header("sonde-role") == "viewer")
    return said(403, "error", "viewers cannot start a capture; ask an admin for the role editor");
  auto plan = plan_of(request);
  if (!plan) return said(400, "error", plan.error().text);
  Recordings& recordings = context.services.recordings();
  const auto begun = recordings.start(context, std::move(*plan));
  if (!begun) return said(status_of(begun.error().code), "error", begun.error().text);
  // xprof answers 500 when a capture fails, and its page shows the sentence.
  const auto over = recordings.wait(begun->id);
  if (!over || over->state != RecordingState::kDone)
    return said(500, "error", over ? over->error : over.error().text);
  return said(200, "result", "Capture profile successfully. Please refresh.");
}

Effort takes_long(const Context&, const Request&) { return Effort::kLong; }

}  // namespace sonde::api::tensorboard
