// TensorBoard's profile plug-in: which captures there are. A session is a folder
// <run>/plugins/profile/<session> that holds a file.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/core.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {
namespace {

namespace fs = std::filesystem;
using Sessions = std::vector<std::string>;

constexpr size_t kMaxDepth = 16;

// Session names below `folder`, whose path relative to the log directory is `name`.
void add_sessions(const fs::path& folder, const std::string& name, Sessions& found) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder / "plugins/profile", error)) {
    std::error_code inner;
    if (!entry.is_directory(inner) || fs::is_empty(entry.path(), inner)) continue;
    const std::string session = entry.path().filename().string();
    found.push_back(name == "." ? session : name + "/" + session);
  }
}

// Captures need no event file beside them, so every folder is looked at. Links are not followed.
void walk(const fs::path& folder, const std::string& name, size_t depth, Sessions& found) {
  std::error_code error;
  bool has_plugins = false;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, error)) {
    std::error_code inner;
    if (entry.is_symlink(inner) || !entry.is_directory(inner)) continue;
    const std::string part = entry.path().filename().string();
    if (part == "plugins") {
      has_plugins = true;
    } else if (depth < kMaxDepth) {
      walk(entry.path(), name == "." ? part : name + "/" + part, depth + 1, found);
    }
  }
  if (has_plugins) add_sessions(folder, name, found);
}

// Looked for again every five seconds: a walk over the whole log directory is not free.
std::shared_ptr<const Sessions> sessions_of(const Context& context) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto seconds =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  return context.memo->get<Sessions>("profile/sessions", seconds / 5, [&](const Sessions*) {
    Sessions found;
    for (const auto& root : context.store.options().roots) {
      walk(root.path, root.name.empty() ? "." : root.name, 0, found);
    }
    std::sort(found.begin(), found.end(), std::greater<>());  // the newest first
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
