// Jobs of /api/v1: start a projection, look how far it is, read its positions, change or cancel it.
#include <fmt/format.h>

#include <charconv>

#include "api/services/jobs.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "log/query/series/column_file.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kPrefix = "/api/v1/jobs/";

void write_status(JsonWriter& json, const JobStatus& status) {
  json.key("job").number(status.id);
  json.key("kind").string(name_of(status.kind));
  json.key("embedding").string(status.embedding);
  json.key("state").string(name_of(status.state));
  json.key("stage").string(status.stage);
  json.key("iteration").number(status.iteration);
  json.key("of").number(status.of);
  json.key("version").number(status.version);
  if (status.eta_s >= 0) json.key("eta_s").number(status.eta_s);
  if (!status.error.empty()) json.key("error").string(status.error);
}

Answer status_answer(const JobStatus& status, int code = 200) {
  std::string body;
  JsonWriter json(body);
  json.object([&] { write_status(json, status); });
  Answer answer = Answer::json(std::move(body));
  answer.status = code;
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer list(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const JobStatus& status : context.services.state().jobs().list())
      json.object([&] { write_status(json, status); });
  });
  Answer answer = Answer::json(std::move(body));
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer start(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const id, text_in(body, "embedding"));
  SONDE_ANSWER(embedding, loaded_embedding(context, id));
  SONDE_ANSWER(job, job_request(body, std::move(embedding)));
  auto status = context.services.state().jobs().start(std::move(job));
  if (!status) {
    Answer answer = error(status.error(), "", "wait, or cancel one: DELETE jobs/<job>");
    if (status.error().code == Code::kBusy) answer.headers.emplace_back("Retry-After", "5");
    return answer;
  }
  return status_answer(*status, status->is_over() ? 200 : 202);
}

struct Target {
  uint64_t id = 0;
  std::string rest;  // what follows the number
};

Result<Target> target_of(const Request& request) {
  const std::string_view path = std::string_view(request.path).substr(kPrefix.size());
  Target target;
  const auto [stop, problem] = std::from_chars(path.data(), path.data() + path.size(), target.id);
  target.rest = std::string(stop, path.data() + path.size());
  if (problem != std::errc() || (!target.rest.empty() && target.rest[0] != '/'))
    return fail(Code::kNotFound, "a job is named by its number; GET jobs lists them");
  return target;
}

Answer positions(const Context& context, const Request& request, uint64_t id) {
  SONDE_ANSWER(const after, integer_param(request, "after", 0));
  SONDE_ANSWER(found, context.services.state().jobs().positions(
                          id, static_cast<uint64_t>(std::max<int64_t>(0, after))));
  if (!found) {
    Answer none;
    none.status = 204;
    none.cache = Cache::kNoStore;
    return none;
  }
  const JobStatus& status = found->status;
  std::string file =
      query::column_file({query::Column::of("position", *found->values)}, [&](JsonWriter& json) {
        write_status(json, status);
        json.key("rows").number(static_cast<uint64_t>(status.rows));
        json.key("columns").number(static_cast<uint64_t>(status.columns));
        json.key("replaced").number(static_cast<uint64_t>(status.replaced));
        if (status.kind == JobKind::kPca) {
          json.key("explained").array([&] {
            for (const double share : status.explained) json.number(share);
          });
        }
        if (status.kind == JobKind::kCustom) {
          json.key("matches").object([&] {
            for (size_t i = 0; i < kAxisEnds.size(); ++i)
              json.key(kAxisEnds[i]).number(static_cast<uint64_t>(status.matches[i]));
          });
        }
        if (status.kind == JobKind::kTsne || status.kind == JobKind::kUmap) {
          json.key("exact").boolean(status.neighbours_exact);
          if (!status.neighbours_exact) json.key("recall").number(status.neighbours_recall);
          if (status.cost > 0) json.key("cost").number(status.cost);
        }
      });
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.body = std::move(file);
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer look(const Context& context, const Request& request) {
  SONDE_ANSWER(const target, target_of(request));
  if (target.rest == "/positions") return positions(context, request, target.id);
  if (!target.rest.empty()) return error({Code::kNotFound, "there is no such route"}, request.path);
  SONDE_ANSWER(const status, context.services.state().jobs().status(target.id));
  return status_answer(status);
}

Answer change(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const target, target_of(request));
  SONDE_ANSWER(const body, object_of(request));
  JobChange wanted;
  if (const JsonValue* paused = body.find("paused")) {
    if (!paused->is_bool()) return error({Code::kInvalid, "'paused' must be true or false"});
    wanted.paused = paused->boolean;
  }
  if (body.find("learning_rate")) {
    SONDE_ANSWER(const rate, number_in(body, "learning_rate", 0));
    if (!(rate >= 0 && rate <= 1e6))
      return error({Code::kInvalid, "'learning_rate' must lie between 0 and 1e+06"});
    wanted.learning_rate = rate;
  }
  SONDE_ANSWER(const rounds, integer_in(body, "perturb", 0));
  if (rounds < 0 || rounds > 100)
    return error({Code::kInvalid, "'perturb' must lie between 0 and 100 rounds"});
  wanted.perturb = static_cast<int>(rounds);
  SONDE_ANSWER(const status, context.services.state().jobs().change(target.id, wanted));
  return status_answer(status);
}

Answer cancel(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const target, target_of(request));
  SONDE_ANSWER(const status, context.services.state().jobs().cancel(target.id));
  return status_answer(status);
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/jobs", list},        {"POST", "/api/v1/jobs", start},
    {"GET", "/api/v1/jobs/*", look},      {"PATCH", "/api/v1/jobs/*", change},
    {"DELETE", "/api/v1/jobs/*", cancel},
};

}  // namespace

std::span<const Route> job_routes() { return kRoutes; }

}  // namespace sonde::api::v1
