// GET and PATCH sidecar.
#include "api/services/hub.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"

namespace sonde::api::v1 {
namespace {

Answer document_answer(SidecarFile::Document document) {
  Answer answer = Answer::json(std::move(document.text));
  answer.etag = std::move(document.etag);
  return answer;
}

Answer read(const Context& context, const Request&) {
  SONDE_ANSWER(document, context.services.state().sidecar().read());
  return document_answer(std::move(document));
}

Answer patch(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, read_json(request.body));
  std::optional<std::string_view> if_match;
  if (const auto header = request.header("if-match"); !header.empty()) if_match = header;
  State& state = context.services.state();
  auto document = state.sidecar().patch(body, if_match);
  if (!document) {
    const bool forbidden = document.error().code == Code::kForbidden;
    return error(document.error(), forbidden ? "read_only" : "");
  }
  std::string data;
  JsonWriter json(data);
  json.object([&] { json.key("etag").string(document->etag); });
  state.hub().broadcast("sidecar", data);
  Answer answer = document_answer(std::move(*document));
  answer.cache = Cache::kNoStore;
  return answer;
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/sidecar", read}, {"PATCH", "/api/v1/sidecar", patch}};

}  // namespace

std::span<const Route> sidecar_routes() { return kRoutes; }

}  // namespace sonde::api::v1
