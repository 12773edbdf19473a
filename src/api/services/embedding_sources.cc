#include "api/services/embedding_sources.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "api/services/found_folders.h"
#include "io/file.h"
#include "io/remote/beside.h"
#include "io/remote/remote.h"
#include "io/scan.h"

namespace sonde::api {
namespace {

namespace pj = embed::projector;
using Sources = std::vector<pj::Source>;
using Places = std::vector<pj::Place>;

constexpr std::string_view kAssets = "/plugins/org_tensorflow_tensorboard_projector";

uint64_t seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// A log directory may be given relative to where the program was started; paths inside a place are
// joined to its root, so both are made absolute.
pj::Place place_of(std::string run, const std::string& folder, const std::string& root) {
  std::error_code ignored;
  const auto whole = [&](const std::string& path) {
    const auto absolute = std::filesystem::absolute(path, ignored);
    return ignored ? path : absolute.lexically_normal().string();
  };
  return {std::move(run), whole(folder), whole(root)};
}

Places places_of_runs(const Context& context, const store::Snapshot& snapshot) {
  Places places;
  bool has_root = false;
  const auto& roots = context.store.options().roots;
  for (const auto& run : snapshot.runs) {
    const std::string folder = io::local_view(run->folder);
    if (io::is_address(folder)) continue;
    for (const auto& root : roots) {
      if (run->folder.starts_with(root.path)) {
        places.push_back(place_of(run->name, folder, io::local_view(root.path)));
        break;
      }
    }
    has_root = has_root || run->name == ".";
  }
  // The log directory itself counts even when it holds no event file.
  if (has_root || roots.size() != 1) return places;
  const std::string only = io::local_view(roots[0].path);
  if (!io::is_address(only)) places.push_back(place_of(".", only, only));
  return places;
}

// Folders with a config or a checkpoint and no event file. A look into each of many folders takes a
// while, so this is done once in thirty seconds.
Places places_without_events(const Context& context) {
  Places places;
  const auto folders = found_folders(context);
  for (const io::NamedFolder& folder : *folders) {
    if (folder.path.ends_with(kAssets)) continue;  // belongs to the folder above
    const bool has_config =
        io::stat_of(folder.path + "/projector_config.pbtxt").has_value() ||
        io::stat_of(folder.path + std::string(kAssets) + "/projector_config.pbtxt");
    if (!has_config && !io::stat_of(folder.path + "/checkpoint")) continue;
    places.push_back(place_of(folder.name, folder.path, folder.root));
  }
  return places;
}

void add_other_places(const Context& context, size_t runs, Places& places) {
  const uint64_t mark = seconds_now() / 30 * 1'000'003 + runs;
  const auto others = context.services.memo().get<Places>(
      "projector/folders", mark, [&](const Places*) { return places_without_events(context); });
  std::set<std::string> known;
  for (const pj::Place& place : places) known.insert(place.run);
  for (const pj::Place& place : *others) {
    if (known.insert(place.run).second) places.push_back(place);
  }
}

}  // namespace

std::shared_ptr<const Sources> embedding_sources(const Context& context,
                                                 const store::Snapshot& snapshot, Folders folders) {
  const bool all = folders == Folders::kAll;
  // Configs and checkpoints may appear without a new event, so they are looked for again every two
  // seconds; a thousand runs cost a few milliseconds then.
  const uint64_t mark = seconds_now() / 2 * 1'000'003 + snapshot.runs.size();
  return context.services.memo().get<Sources>(
      all ? "projector/all sources" : "projector/sources", mark, [&](const Sources* earlier) {
        Places places = places_of_runs(context, snapshot);
        if (all) add_other_places(context, snapshot.runs.size(), places);
        return pj::sources(places, earlier, all ? pj::Keep::kProblems : pj::Keep::kUseful);
      });
}

}  // namespace sonde::api
