// TensorBoard's profile plug-in: which captures there are.
#include <chrono>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/core.h"
#include "api/tensorboard/shared.h"
#include "import/session.h"

namespace sonde::api::tensorboard {
namespace {

using Sessions = std::vector<std::string>;

// Looked for again every five seconds: a walk over the whole log directory is not free.
std::shared_ptr<const Sessions> sessions_of(const Context& context) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return context.memo->get<Sessions>(
      "profile/sessions", static_cast<uint64_t>(seconds) / 5, [&](const Sessions*) {
        Sessions found;
        for (const auto& root : context.store.options().roots) {
          for (const imports::SessionFiles& session : imports::find_sessions(root.path)) {
            const std::string prefix = root.name.empty() ? "" : root.name + "/";
            // Captures that lie about loosely are Sonde's own extra.
            if (session.path.find("/plugins/profile/") != std::string::npos)
              found.push_back(prefix + session.id());
          }
        }
        return found;
      });
}

Answer runs(const Context& context, const Request&) {
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const std::string& session : *sessions_of(context)) json.string(session);
  });
  return Answer::json(std::move(out));
}

constexpr Route kRoutes[] = {{"*", "/data/plugin/profile/runs", runs}};

}  // namespace

bool has_profile_data(const Context& context, const store::Snapshot&) {
  return !sessions_of(context)->empty();
}

std::span<const Route> profile_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
