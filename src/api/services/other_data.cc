#include "api/services/other_data.h"

#include <chrono>
#include <filesystem>
#include <set>

#include "api/services/captures.h"
#include "api/services/embedding_sources.h"
#include "api/services/found_folders.h"
#include "io/file.h"
#include "io/scan.h"

namespace sonde::api {
namespace {

namespace fs = std::filesystem;
using List = std::vector<OtherData>;

constexpr std::string_view kDump = "tfdbg_events.";
constexpr auto kLookAgain = std::chrono::seconds(30);  // listing many folders takes a while

void add_captures(const Context& context, List& list) {
  const auto entries = context.services.captures().list(context);
  for (const Captures::Entry& entry : *entries) {
    OtherData one{.kind = "capture", .path = entry.files.path, .files = 0, .bytes = 0};
    for (const imports::CaptureFile& file : entry.files.files) {
      if (file.kind == imports::FileKind::kEventFile) continue;  // counted among the event files
      ++one.files;
      one.bytes += file.bytes;
    }
    if (one.files > 0) list.push_back(std::move(one));
  }
}

void add_embeddings(const Context& context, const store::Snapshot& snapshot, List& list) {
  const auto sources = embedding_sources(context, snapshot, Folders::kAll);
  for (const auto& source : *sources) {
    if (source.embeddings.empty()) continue;
    std::set<std::string> files;
    if (io::stat_of(source.config_path)) files.insert(source.config_path);
    if (!source.checkpoint.empty()) files.insert(source.checkpoint);
    for (const auto& one : source.embeddings)
      for (const auto* path : {&one.tensor_path, &one.metadata_path, &one.sprite_path})
        if (!path->empty()) files.insert(*path);
    list.push_back({.kind = "embedding", .path = source.folder, .files = files.size(), .bytes = 0});
  }
}

// Folders that directly hold dumps.
List dumps_in(const std::vector<io::NamedFolder>& folders) {
  List list;
  for (const io::NamedFolder& folder : folders) {
    OtherData one{.kind = "debugger", .path = folder.path, .files = 0, .bytes = 0};
    std::error_code failed;
    for (fs::directory_iterator it(folder.path, failed), end; !failed && it != end;
         it.increment(failed)) {
      if (!it->path().filename().string().starts_with(kDump)) continue;
      ++one.files;
      std::error_code unknown;
      const auto bytes = it->file_size(unknown);
      if (!unknown) one.bytes += bytes;
    }
    if (one.files > 0 && list.size() < kMostOtherData) list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::vector<OtherData> other_data(const Context& context, const store::Snapshot& snapshot) {
  List list;
  add_captures(context, list);
  add_embeddings(context, snapshot, list);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto mark = static_cast<uint64_t>(now / kLookAgain) * 1'000'003 + snapshot.runs.size();
  const auto dumps = context.services.memo().get<List>(
      "other_data/dumps", mark, [&](const List*) { return dumps_in(*found_folders(context)); });
  list.insert(list.end(), dumps->begin(), dumps->end());
  if (list.size() > kMostOtherData) list.resize(kMostOtherData);
  return list;
}

}  // namespace sonde::api
