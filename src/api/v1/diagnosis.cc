// GET diagnosis: what was scanned, read, skipped and found damaged, and what to do about it.
#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "api/services/other_data.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/strings.h"

namespace sonde::api::v1 {
namespace {

struct Row {
  const store::FileState* file = nullptr;
  const store::RunSnapshot* run = nullptr;
  std::vector<const store::Damage*> damage;
  std::string path;

  // Damage first, then what is not complete, then by path.
  int rank() const {
    const auto is_loss = [](const auto* d) { return d->severity == store::Severity::kLoss; };
    if (std::any_of(damage.begin(), damage.end(), is_loss)) return 0;
    if (!damage.empty() || file->damaged > 0) return 1;
    return file->state == "complete" ? 3 : 2;
  }
};

// What of a path lies below a folder; empty when nothing does.
std::string below(std::string_view folder, const std::string& path) {
  if (path.size() <= folder.size() || !path.starts_with(folder)) return {};
  const size_t at = path.find_first_not_of('/', folder.size());
  return at == path.npos ? "" : path.substr(at);
}

// Relative to the root it lies under, so that an answer names no folder outside. Files may carry
// whole paths where the root was given as seen from the working directory.
std::vector<std::string> folders_of(const store::Options& options) {
  std::vector<std::string> folders;
  for (const auto& root : options.roots) {
    std::error_code failed;
    folders.push_back(root.path);
    folders.push_back(std::filesystem::absolute(root.path, failed).lexically_normal().string());
  }
  std::erase(folders, "");
  return folders;
}

std::string relative_path(const std::vector<std::string>& folders, const std::string& path) {
  for (const std::string& folder : folders) {
    if (std::string rest = below(folder, path); !rest.empty()) return rest;
  }
  return path;
}

std::vector<Row> rows_of(const store::Snapshot& snapshot, const std::vector<std::string>& folders) {
  std::vector<Row> rows;
  std::unordered_map<uint32_t, size_t> row_of;  // by file id
  for (size_t i = 0; i < snapshot.files.size(); ++i) {
    const auto& file = snapshot.files[i];
    if (!file) continue;
    row_of[static_cast<uint32_t>(i)] = rows.size();
    rows.push_back({file.get(), snapshot.find(file->run), {}, relative_path(folders, file->path)});
  }
  for (const auto& run : snapshot.runs) {
    for (const auto& damage : run->damage) {
      const auto found = row_of.find(static_cast<uint32_t>(damage.file));
      if (found != row_of.end()) rows[found->second].damage.push_back(&damage);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const int x = a.rank(), y = b.rank();
    return x != y ? x < y : natural_compare(a.path, b.path) < 0;
  });
  return rows;
}

void write_damage(JsonWriter& json, const store::Damage& damage) {
  json.object([&] {
    json.key("offset").safe_integer(static_cast<int64_t>(damage.offset));
    json.key("length").safe_integer(static_cast<int64_t>(damage.length));
    json.key("kind").string(damage.kind);
    json.key("severity").string(damage.severity == store::Severity::kLoss ? "loss" : "note");
    json.key("text").string(damage.text);
    json.key("advice").string(damage.advice);
  });
}

void write_row(JsonWriter& json, const Row& row) {
  json.object([&] {
    json.key("path").string(row.path);
    json.key("run").string(row.run ? row.run->name : "");
    json.key("kind").string("events");
    json.key("bytes").number(row.file->size_bytes);
    json.key("read").number(row.file->read_bytes);
    json.key("records").number(row.file->records);
    json.key("damaged").number(row.file->damaged);
    json.key("state").string(row.file->state);
    json.key("damage").array([&] {
      for (const auto* damage : row.damage) write_damage(json, *damage);
    });
  });
}

// What a person who sees nothing should look at.
void write_hints(JsonWriter& json, const store::Snapshot& snapshot, const store::Diagnosis& found,
                 bool has_other) {
  const auto hint = [&](std::string_view text, std::string_view fix) {
    json.object([&] {
      json.key("text").string(text);
      json.key("fix").string(fix);
    });
  };
  if (snapshot.progress.loading) return;
  if (snapshot.files.empty() && found.folders == 0) {
    hint("the log directory does not exist or cannot be read",
         "check the path after --logdir; it may also be created later");
  } else if (snapshot.files.empty() && !has_other) {
    hint("no event file was found in the log directory",
         "event files have 'tfevents' in their name; point --logdir at the folder your writer "
         "writes to, or at a folder above it");
  } else if (!snapshot.files.empty() &&
             std::all_of(snapshot.runs.begin(), snapshot.runs.end(),
                         [](const auto& run) { return run->points == 0; })) {
    hint("event files were found but they hold no data yet",
         "writers keep data back: call flush() or close() on the writer, or wait");
  }
  if (found.watch == "poll")
    hint("changes are found by looking again, not by being told",
         "network file systems do not tell; --reload_interval says how often to look");
}

Answer diagnosis(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  const store::Diagnosis found = context.store.diagnosis();
  const auto folders = folders_of(context.store.options());
  const std::vector<Row> rows = rows_of(*snapshot, folders);
  const std::vector<OtherData> others = other_data(context, *snapshot);
  SONDE_ANSWER(const page, page_of(request, rows.size()));
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("roots").array([&] {
      for (const auto& root : context.store.options().roots) json.string(root.path);
    });
    json.key("scanned").object([&] {
      json.key("folders").number(found.folders);
      json.key("files").number(found.files);
      json.key("bytes").number(found.bytes);
      json.key("ms").number(found.scan_ms);
    });
    json.key("total").number(static_cast<uint64_t>(rows.size()));
    json.key("files").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) write_row(json, rows[i]);
    });
    json.key("skipped").array([&] {
      for (const auto& skipped : found.skipped) {
        json.object([&] {
          json.key("path").string(relative_path(folders, skipped.path));
          json.key("reason").string(skipped.reason);
        });
      }
    });
    json.key("also").array([&] {
      for (const OtherData& other : others) {
        json.object([&] {
          json.key("kind").string(other.kind);
          const std::string path = relative_path(folders, other.path);
          json.key("path").string(path.empty() || path == other.path ? "." : path);
          json.key("files").number(other.files);
          json.key("bytes").number(other.bytes);
        });
      }
    });
    json.key("hints").array([&] { write_hints(json, *snapshot, found, !others.empty()); });
    json.key("memory").object([&] {
      json.key("used").number(found.memory_used_bytes);
      json.key("budget").number(found.memory_budget_bytes);
      json.key("spilled").number(found.spilled_bytes);
    });
    json.key("watch").string(found.watch);
    json.key("progress").object([&] {
      const auto& progress = snapshot->progress;
      json.key("files").number(progress.files);
      json.key("files_done").number(progress.files_done);
      json.key("bytes").number(progress.bytes);
      json.key("bytes_done").number(progress.bytes_done);
      json.key("points").number(progress.points);
      json.key("loading").boolean(progress.loading);
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/diagnosis", diagnosis}};

}  // namespace

std::span<const Route> diagnosis_routes() { return kRoutes; }

}  // namespace sonde::api::v1
